// The keys of a bucket: found where AWS's own programs find them, looked for again when the store knows them no more, and
// missed in words.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openBucket } from '../../../src/drivers/s3/open-bucket.ts'
import { startS3Stub } from '../../adapters/s3-stub.ts'

const folder = mkdtempSync(join(tmpdir(), 'proofstream-keys-'))
const profiles = join(folder, 'credentials')
const secrets = new Map([
  ['id', 'secret'],
  ['other', 'another'],
])

beforeEach(() => {
  // Nothing of the machine that runs the test is looked at.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'))
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', profiles)
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  rmSync(profiles, { force: true })
})
afterEach(() => vi.unstubAllEnvs())
afterAll(() => rmSync(folder, { recursive: true }))

async function open(answerMs = 5_000): Promise<ObjectStore> {
  const stub = await startS3Stub({ secretOf: (id) => secrets.get(id) })
  onTestFinished(() => stub.close())
  const store = await openBucket({
    address: { endpoint: new URL(stub.url), bucket: 'rows', region: 'us-east-1', pathStyle: true, dialect: 'aws' },
    prefix: '',
    use: 'read',
    spoolDir: folder,
    clock: systemClock,
    logger: silentLogger,
    answerMs,
    patienceMs: 0,
  })
  onTestFinished(() => store.close())
  return store
}

async function service(answer: (request: IncomingMessage) => string | undefined): Promise<string> {
  const server = createServer((request, response) => {
    const text = answer(request)
    response.statusCode = text === undefined ? 403 : 200
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP address
}

const profile = (id: string): string =>
  `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secrets.get(id) ?? ''}\n`

test('keys come from the environment', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  expect(await (await open()).list('a')).toEqual([])
})

test('keys come from a profile, and from its file again when the store knows them no more', async () => {
  writeFileSync(profiles, profile('id'))
  const store = await open()
  const known = secrets.get('id') ?? ''
  secrets.delete('id')
  onTestFinished(() => void secrets.set('id', known))
  writeFileSync(profiles, profile('other'))
  expect(await Promise.all(['a', 'b', 'c'].map((name) => store.list(name)))).toEqual([[], [], []])
})

test('keys come from the service of a container, with its token', async () => {
  const given = { AccessKeyId: 'id', SecretAccessKey: 'secret', Token: 'e', Expiration: '2100-01-01T00:00:00Z' }
  const url = await service(({ headers }) => (headers.authorization === 'pod' ? JSON.stringify(given) : undefined))
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${url}/v1/credentials`)
  vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'pod')
  expect(await (await open()).list('a')).toEqual([])
})

test('a service of roles that is silent is waited for as long as a store', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const token = join(folder, 'token')
  writeFileSync(token, 'jwt.of.me')
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token)
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::1:role/lake')
  vi.stubEnv('AWS_ENDPOINT_URL_STS', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  await expect(open(200)).rejects.toMatchObject({ kind: 'StoreUnavailable', message: /took longer than 200 ms/ })
})

test('without keys it is said', async () => {
  await expect(open()).rejects.toMatchObject({
    kind: 'StoreUnavailable',
    message: expect.stringContaining('There are no credentials for the store:'),
    details: { hint: expect.stringContaining('AWS_PROFILE') },
  })
})
