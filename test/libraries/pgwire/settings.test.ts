// Settings of a session: what is taken, what is refused and how, and what a client is told.

import { describe, expect, test } from 'vitest'
import { PostgresFault } from '../../../src/libraries/pgwire/report.ts'
import { SessionSettings } from '../../../src/libraries/pgwire/settings.ts'

const begun = (): SessionSettings => new SessionSettings({ server_version: '15.0', session_authorization: 'ann' })

/** The value that holds after it was set, or the state of the refusal. */
function after(name: string, value: string | undefined): string {
  const settings = begun()
  try {
    settings.set(name, value)
    return settings.get(name)
  } catch (error) {
    return error instanceof PostgresFault ? error.state : String(error)
  }
}

test.each<[name: string, value: string, holds: string]>([
  ['client_encoding', 'utf-8', 'UTF8'],
  ['CLIENT_ENCODING', "'utf-8'", 'UTF8'],
  ['client_encoding', 'UNICODE', 'UTF8'],
  ['client_encoding', 'LATIN1', '22023'],
  ['client_encoding', 'SQL_ASCII', '22023'],
  ['datestyle', 'ISO', 'ISO, MDY'],
  ['datestyle', 'iso, mdy', 'ISO, MDY'],
  ['DateStyle', 'German', '22023'],
  ['datestyle', 'isolated', '22023'],
  ['intervalstyle', 'POSTGRES', 'postgres'],
  ['intervalstyle', 'iso_8601', '22023'],
  ['timezone', 'utc', 'UTC'],
  ['timezone', 'Etc/UTC', 'UTC'],
  ['timezone', 'GMT', 'UTC'],
  ['timezone', '+00:00', 'UTC'],
  ['timezone', '0', 'UTC'],
  ['timezone', 'Europe/Berlin', '22023'],
  ['timezone', '+01', '22023'],
  ['bytea_output', 'escape', '22023'],
  ['extra_float_digits', '3', '3'],
  ['extra_float_digits', '0', '22023'],
  ['standard_conforming_strings', 'on', 'on'],
  ['standard_conforming_strings', 'off', '22023'],
  ['default_transaction_read_only', 'true', 'on'],
  ['default_transaction_read_only', 'off', '22023'],
  ['transaction_read_only', '0', '22023'],
  ['application_name', "any 'thing'", "any 'thing'"],
  ['default_transaction_isolation', 'SERIALIZABLE', 'serializable'],
  ['default_transaction_isolation', 'chaos', '22023'],
  ['statement_timeout', '0', '0'],
  ['statement_timeout', '1500', '1500ms'],
  ['statement_timeout', '2s', '2s'],
  ['statement_timeout', ' 1 min ', '1min'],
  ['statement_timeout', '2h', '2h'],
  ['statement_timeout', '-1', '22023'],
  ['statement_timeout', '5 weeks', '22023'],
  ['statement_timeout', 'soon', '22023'],
  ['client_min_messages', 'WARNING', 'warning'],
  ['client_min_messages', 'loud', '22023'],
  ['jit', 'yes', 'on'],
  ['jit', '1.0', '22023'],
  ['server_version', '16', '55P02'],
  ['server_encoding', 'UTF8', '55P02'],
  ['is_superuser', 'on', '55P02'],
  ['max_identifier_length', '64', '55P02'],
  ['work_mem', '4MB', '42704'],
  ['constructor', 'x', '42704'],
  ['__proto__', 'x', '42704'],
  ['my.own', 'x', 'x'],
  ['my.deep.own', '', ''],
])('%s = %s: %s', (name, value, holds) => {
  expect(after(name, value)).toBe(holds)
})

test('a name of a program is unknown until it is set', () => {
  expect(() => begun().get('my.own')).toThrow(expect.objectContaining({ state: '42704' }))
  expect(after('my.own', undefined)).toBe('42704')
})

// A timer holds 31 bits of milliseconds: PostgreSQL refuses more, and here it ends every statement at once.
test.each(['30d', '2147483648', '9999999999d'])('a timeout of more than a timer holds is refused: %s', (value) => {
  expect(after('statement_timeout', value)).toBe('22023')
})

// A session holds what it sets: names of a program's own without end, 16 MiB each.
test('settings of a program are bounded', () => {
  const settings = begun()
  const setMany = (): void => {
    for (let i = 0; i < 10_000; i++) settings.set(`my.own${i}`, 'x'.repeat(1_000))
  }
  expect(setMany).toThrow(PostgresFault)
})

describe('what a client is told', () => {
  test('at its start', () => {
    expect(SessionSettings.reported).toEqual(
      expect.arrayContaining([
        'server_version',
        'client_encoding',
        'datestyle',
        'timezone',
        'integer_datetimes',
        'standard_conforming_strings',
      ]),
    )
    expect(SessionSettings.reported).toHaveLength(13)
    const settings = begun()
    expect(settings.status('datestyle')).toEqual(['DateStyle', 'ISO, MDY'])
    expect(settings.status('TIMEZONE')).toEqual(['TimeZone', 'UTC'])
    expect(settings.status('session_authorization')).toEqual(['session_authorization', 'ann'])
  })

  test('when one of them becomes another', () => {
    const settings = begun()
    expect(settings.set('application_name', 'a')).toBe(true)
    expect(settings.set('Application_Name', 'a')).toBe(false)
    expect(settings.set('datestyle', 'ISO')).toBe(false)
    expect(settings.set('statement_timeout', '5')).toBe(false)
    expect(settings.set('application_name', undefined)).toBe(true)
  })

  test('when they are put back', () => {
    const settings = begun()
    const before = settings.state
    settings.set('application_name', 'a')
    settings.set('jit', 'on')
    expect(settings.get('jit')).toBe('on')
    expect(settings.putBack(before)).toEqual(['application_name'])
    expect([settings.get('application_name'), settings.get('jit')]).toEqual(['', 'off'])
    settings.set('application_name', 'b')
    expect(settings.reset()).toEqual(['application_name'])
  })
})

test('a start takes what it says, but for the time zone of the computer', () => {
  const settings = begun()
  settings.begin(
    new Map([
      ['TimeZone', 'Europe/Berlin'],
      ['DateStyle', 'ISO'],
      ['application_name', 'psql'],
      ['extra_float_digits', '2'],
    ]),
  )
  expect(['timezone', 'application_name', 'extra_float_digits'].map((name) => settings.get(name))).toEqual([
    'UTC',
    'psql',
    '2',
  ])
  expect(() => settings.begin(new Map([['nonsense', '1']]))).toThrow(expect.objectContaining({ state: '42704' }))
})

test('all of them have a value and a name as it is written', () => {
  const all = begun().all()
  expect(all.map(([name]) => name)).toEqual(expect.arrayContaining(['DateStyle', 'TimeZone', 'search_path']))
  expect(new Set(all.map(([name]) => name)).size).toBe(all.length)
})

test('a long value is refused in no time of its square', () => {
  expect(() => new SessionSettings({}).set('statement_timeout', `1${' '.repeat(1_000_000)}x`)).toThrow(PostgresFault)
})
