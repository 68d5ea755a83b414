// Where access keys come from, in this order: the environment, a role by a web identity token, the profile files, the service of
// a container, the service of a machine. Three small exchanges of HTTP and two files: less than a package that has them all.
// What else there is (single sign-on, roles of profiles) comes in through `credential_process`.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode } from '../../disk/files.ts'
import { boundedText } from '../../lib/bounded-body.ts'
import { isLoopback } from '../../lib/loopback.ts'
import { DecodeError, NodeError } from '../../model/errors.ts'
import type { KeptCredentials } from './credentials.ts'
import { childText, parseXml, type XmlElement } from './xml.ts'

/** Variables by which AWS's own programs find credentials. */
export type KeyEnvironment = Readonly<Record<string, string | undefined>>

const answerWithinMs = 5_000
const answerBytesMost = 1024 * 1024
/** Files may change at any time: they are read again before this is over. */
const filesHoldMs = 10 * 60_000

/** Credentials as `environment` points to them. Throws NodeError `StoreUnavailable` where there are none. */
export async function findKeys(environment: KeyEnvironment, region: string, nowMs: number): Promise<KeptCredentials> {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment
  if (id !== undefined && secret !== undefined) {
    return { accessKeyId: id, secretAccessKey: secret, ...(token === undefined ? {} : { sessionToken: token }) }
  }
  try {
    return (
      (await byWebIdentity(environment, region)) ??
      (await ofProfile(environment, nowMs)) ??
      (await ofContainer(environment)) ??
      (await ofMachine(environment))
    )
  } catch (cause) {
    if (cause instanceof NodeError) throw cause
    throw noKeys(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function noKeys(reason: string, cause?: unknown): NodeError {
  return new NodeError('StoreUnavailable', `There are no credentials for the store: ${reason}.`, {
    hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine or container a role.',
    cause,
  })
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html; the token is read each time. */
async function byWebIdentity(environment: KeyEnvironment, region: string): Promise<KeptCredentials | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role, AWS_ROLE_SESSION_NAME: session } = environment
  if (file === undefined || role === undefined) return undefined
  const url = environment['AWS_ENDPOINT_URL_STS'] ?? `https://sts.${region}.amazonaws.com/`
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: session ?? 'proofstream',
    WebIdentityToken: (await readFile(file, 'utf8')).trim(),
  })
  const answer = parseXml(await ask(url, { method: 'POST', body }))
  const found = ['AssumeRoleWithWebIdentityResult', 'Credentials'].reduce<XmlElement | undefined>(
    (element, name) => element?.children.find((child) => child.name === name),
    answer,
  )
  return keysIn((name) => found && childText(found, name), 'SessionToken')
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html */
async function ofProfile(environment: KeyEnvironment, nowMs: number): Promise<KeptCredentials | undefined> {
  const folder = join(homedir(), '.aws')
  const name = environment['AWS_PROFILE'] ?? 'default'
  const sections = [
    await section(
      environment['AWS_CONFIG_FILE'] ?? join(folder, 'config'),
      name === 'default' ? [name] : [`profile ${name}`],
    ),
    await section(environment['AWS_SHARED_CREDENTIALS_FILE'] ?? join(folder, 'credentials'), [name]),
  ]
  const profile = new Map(sections.flatMap((found) => [...found]))
  const command = profile.get('credential_process')
  const expiresMs = nowMs + filesHoldMs
  if (profile.has('aws_access_key_id')) {
    return { ...keysIn((member) => profile.get(profileNames[member] ?? ''), 'SessionToken'), expiresMs }
  }
  if (command !== undefined) {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { timeout: 60_000 })
    return { expiresMs, ...keysOfJson(stdout, 'SessionToken') }
  }
  if (environment['AWS_PROFILE'] === undefined) return undefined
  throw new NodeError('StoreUnavailable', `Profile '${name}' has no keys that can be read here.`, {
    hint: `Give it credential_process = aws configure export-credentials --profile ${name} --format process, in a profile of its own.`,
  })
}

const profileNames: Readonly<Record<string, string>> = {
  AccessKeyId: 'aws_access_key_id',
  SecretAccessKey: 'aws_secret_access_key',
  SessionToken: 'aws_session_token',
}

/** Members of the section of a file, where there is one. */
async function section(path: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return ''
    throw error
  })
  const members = new Map<string, string>()
  let isIn = false
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]
    if (header !== undefined) isIn = names.includes(header.replace(/\s+/g, ' '))
    const [, name, value] = /^([^\s#;=[][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (isIn && name !== undefined && value !== undefined) members.set(name.toLowerCase(), value)
  }
  return members
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html */
async function ofContainer(environment: KeyEnvironment): Promise<KeptCredentials | undefined> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = environment
  if (relative === undefined && full === undefined) return undefined
  const url = new URL(relative === undefined ? (full ?? '') : `http://169.254.170.2${relative}`)
  if (url.protocol !== 'https:' && !isLoopback(url.hostname) && !containerHosts.has(url.hostname)) {
    throw noKeys(`keys would come from ${url.host} without TLS`)
  }
  const file = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  const token =
    file === undefined ? environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'] : (await readFile(file, 'utf8')).trim()
  const headers = token === undefined ? {} : { authorization: token }
  return keysOfJson(await ask(url.href, { headers }), 'Token')
}

const containerHosts: ReadonlySet<string> = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'])

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html (version 2). */
async function ofMachine(environment: KeyEnvironment): Promise<KeptCredentials> {
  if (environment['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') throw noKeys('none are configured')
  const base = environment['AWS_EC2_METADATA_SERVICE_ENDPOINT'] ?? 'http://169.254.169.254'
  const told = async (path: string, init: RequestInit): Promise<string> =>
    ask(new URL(path, base).href, init).catch((cause: unknown) => {
      throw noKeys('none are configured, and this machine has no role', cause)
    })
  const token = await told('/latest/api/token', {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' },
  })
  const headers = { 'x-aws-ec2-metadata-token': token }
  const roles = '/latest/meta-data/iam/security-credentials/'
  const [role = ''] = (await told(roles, { headers })).trim().split('\n')
  return keysOfJson(await told(`${roles}${role}`, { headers }), 'Token')
}

async function ask(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(answerWithinMs) })
  const text = await boundedText(answer, answerBytesMost)
  if (answer.ok) return text
  throw noKeys(`${new URL(url).host} answered ${answer.status}`)
}

function keysOfJson(text: string, tokenName: string): KeptCredentials {
  const members: unknown = JSON.parse(text)
  const isObject = typeof members === 'object' && members !== null
  return keysIn((name) => (isObject ? (Reflect.get(members, name) as unknown) : undefined), tokenName) // checked there
}

function keysIn(member: (name: string) => unknown, tokenName: string): KeptCredentials {
  const [id, secret, token] = [member('AccessKeyId'), member('SecretAccessKey'), member(tokenName)]
  if (typeof id !== 'string' || typeof secret !== 'string' || id === '' || secret === '') {
    throw new DecodeError('credentials', 'they have no access key or no secret')
  }
  const expiresMs = Date.parse(String(member('Expiration')))
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(typeof token === 'string' && token !== '' ? { sessionToken: token } : {}),
    ...(Number.isNaN(expiresMs) ? {} : { expiresMs }),
  }
}
