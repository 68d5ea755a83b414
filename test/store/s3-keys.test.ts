// Where the keys of a bucket come from, and when they are asked for again: over files and small services of this process.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/lib/logger.ts'
import { CredentialSource, type KeptCredentials } from '../../src/store/s3/credentials.ts'
import { findKeys, type KeyEnvironment } from '../../src/store/s3/key-sources.ts'
import { handClock } from '../helpers/hand-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'proofstream-keys-'))
const nowMs = Date.UTC(2026, 10, 23)
const expires = '2026-11-23T06:00:00Z'
const expiresMs = Date.parse(expires)
/** Nothing of the machine that runs the test is looked at. */
const nowhere: KeyEnvironment = {
  AWS_CONFIG_FILE: join(folder, 'none'),
  AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
  AWS_EC2_METADATA_DISABLED: 'true',
}

function find(environment: KeyEnvironment): Promise<KeptCredentials> {
  return findKeys({ ...nowhere, ...environment }, 'eu-west-1', nowMs)
}

function file(name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

let server: Server | undefined
afterEach(() => server?.close())

/** A service that answers what `answer` gives for a request and its body. */
async function service(answer: (request: IncomingMessage, body: string) => string | undefined): Promise<string> {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const text = answer(request, body)
      response.statusCode = text === undefined ? 403 : 200
      response.end(text)
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('keys come from', () => {
  const static_ = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

  test('the environment', async () => {
    expect(await find(static_)).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' })
    expect(await find({ ...static_, AWS_SESSION_TOKEN: 'token' })).toMatchObject({ sessionToken: 'token' })
  })

  test('the profile that is named, of either file, the credentials file first', async () => {
    const environment = {
      AWS_CONFIG_FILE: file('config', '[default]\nregion = x\n[profile  lake]\naws_access_key_id=old\nother = 1\n'),
      AWS_SHARED_CREDENTIALS_FILE: file(
        'credentials',
        '# mine\r\n[default]\r\naws_access_key_id = a\r\naws_secret_access_key = b\r\n\r\n[lake]\naws_access_key_id = c\naws_secret_access_key = d/e=\naws_session_token = f\n',
      ),
    }
    expect(await find(environment)).toMatchObject({ accessKeyId: 'a', secretAccessKey: 'b' })
    expect(await find({ ...environment, AWS_PROFILE: 'lake' })).toMatchObject({
      accessKeyId: 'c',
      secretAccessKey: 'd/e=',
      sessionToken: 'f',
      expiresMs: nowMs + 600_000,
    })
  })

  test('the program that a profile names', async () => {
    const keys = JSON.stringify({ Version: 1, AccessKeyId: 'p', SecretAccessKey: 'q', Expiration: expires })
    const config = file('config-process', `[profile sso]\ncredential_process = printf '%s' '${keys}'\n`)
    expect(await find({ AWS_CONFIG_FILE: config, AWS_PROFILE: 'sso' })).toEqual({
      accessKeyId: 'p',
      secretAccessKey: 'q',
      expiresMs,
    })
  })

  test('a role, by a web identity token', async () => {
    let asked = ''
    const sts = await service((_, body) => {
      asked = body
      return `<?xml version="1.0"?><AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><SessionToken>t+/=</SessionToken><SecretAccessKey>s&amp;s</SecretAccessKey><Expiration>${expires}</Expiration><AccessKeyId>ASIA</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
    })
    const environment = {
      AWS_WEB_IDENTITY_TOKEN_FILE: file('token', 'jwt.of.me\n'),
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/lake',
      AWS_ENDPOINT_URL_STS: sts,
    }
    const expected = { accessKeyId: 'ASIA', secretAccessKey: 's&s', sessionToken: 't+/=', expiresMs }
    expect(await find(environment)).toEqual(expected)
    expect(Object.fromEntries(new URLSearchParams(asked))).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::1:role/lake',
      RoleSessionName: 'proofstream',
      WebIdentityToken: 'jwt.of.me',
    })
  })

  const keys = { AccessKeyId: 'c', SecretAccessKey: 'd', Token: 'e', Expiration: expires }
  const kept = { accessKeyId: 'c', secretAccessKey: 'd', sessionToken: 'e', expiresMs }

  test('the service of a container, with its token', async () => {
    const url = await service(({ headers }) => (headers.authorization === 'pod' ? JSON.stringify(keys) : undefined))
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('pod', 'pod\n'),
    }
    expect(await find(environment)).toEqual(kept)
  })

  test('the service of a machine, by the token that it gives', async () => {
    const url = await service(({ method, url: path, headers }) => {
      if (path === '/latest/api/token') return method === 'PUT' ? 'session' : undefined
      if (headers['x-aws-ec2-metadata-token'] !== 'session') return undefined
      const roles = '/latest/meta-data/iam/security-credentials/'
      return path === roles ? 'lake-role\n' : path === `${roles}lake-role` ? JSON.stringify(keys) : undefined
    })
    const environment = { AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: url }
    expect(await find(environment)).toEqual(kept)
  })
})

describe('without keys it is said', () => {
  test.each([
    ['that none are configured', {}, /none are configured/],
    [
      'that a container would send them in the clear',
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://10.0.0.1/x' },
      /without TLS/,
    ],
    ['that a token cannot be read', { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'x'), AWS_ROLE_ARN: 'r' }, /ENOENT/],
    ['that a profile has none', { AWS_PROFILE: 'missing' }, /'missing' has no keys/],
    [
      'that a profile is incomplete',
      { AWS_CONFIG_FILE: file('half', '[default]\naws_access_key_id = a') },
      /no secret/,
    ],
  ] satisfies [string, KeyEnvironment, RegExp][])('%s', async (_, environment, message) => {
    await expect(find(environment)).rejects.toMatchObject({
      kind: 'StoreUnavailable',
      message,
      details: { hint: expect.any(String) },
    })
  })
})

test('keys are renewed before they end, kept while that fails, and refused when they have ended', async () => {
  const clock = handClock()
  let [count, fails] = [0, false]
  const source = new CredentialSource(
    async () => {
      count++
      if (fails) throw new TypeError('no network')
      return { accessKeyId: `key ${count}`, secretAccessKey: `${count}`, expiresMs: clock.nowMs() + 3_600_000 }
    },
    { clock, logger: silentLogger },
  )
  const idAt = async (minutes: number): Promise<string> => {
    await clock.advance(minutes * 60_000 - clock.nowMs())
    return (await source.current()).accessKeyId
  }
  expect((await Promise.all([source.current(), source.current()])).map(({ accessKeyId }) => accessKeyId)).toEqual([
    'key 1',
    'key 1',
  ])
  expect(await idAt(54)).toBe('key 1')
  fails = true
  expect(await idAt(56)).toBe('key 1')
  expect(await idAt(56.1)).toBe('key 1')
  expect(count).toBe(2)
  expect(await idAt(57)).toBe('key 1')
  await expect(idAt(60)).rejects.toThrow('no network')
  fails = false
  expect(await idAt(61)).toBe('key 5')
})
