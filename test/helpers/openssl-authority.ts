// A time-stamp authority of OpenSSL: a root, an authority below it, tokens by `openssl ts -reply` and their check by `openssl ts
// -verify`. Over HTTP as such authorities are, with ways to be a bad one.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { utf8 } from '../../src/libraries/base/bytes.ts'

const config = `[ tsa ]
default_tsa = t
[ t ]
serial = ./serial
signer_cert = ./tsa.pem
signer_key = ./tsa.key
certs = ./chain.pem
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
accuracy = secs:1, millisecs:500
ordering = yes
tsa_name = yes
`

const usualExtensions = [
  'basicConstraints=critical,CA:FALSE',
  'keyUsage=critical,digitalSignature',
  'extendedKeyUsage=critical,timeStamping',
]
const caExtensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign']

export interface Made {
  /** Arguments of `openssl req -newkey`. */
  readonly key?: readonly string[]
  readonly rootKey?: readonly string[]
  /** Of the authority's certificate. */
  readonly extensions?: readonly string[]
  /** Of the one between root and authority; undefined: there is none. */
  readonly between?: readonly string[]
  readonly rootExtensions?: readonly string[]
  /** Hash of the signature in tokens, and of those of certificates. */
  readonly digest?: string
  readonly certificateDigest?: string
  /** Hash in the attribute that names the certificate. */
  readonly essDigest?: string
  /** Arguments of `openssl x509` that say how long the authority's certificate is valid. */
  readonly validity?: readonly string[]
  /** Lines of the configuration that count beside the usual ones. */
  readonly lines?: readonly string[]
}

export type Manner = (request: IncomingMessage, response: ServerResponse, query: Uint8Array) => void

const elliptic = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

/** Made anew in a folder of its own, which `remove` deletes. */
export class OpensslAuthority {
  readonly folder: string
  manner: Manner | undefined
  /** Requests over HTTP, with their headers. */
  readonly asked: IncomingMessage[] = []
  #close: () => Promise<void> = async () => {}

  constructor(made: Made = {}) {
    this.folder = mkdtempSync(join(tmpdir(), 'proofstream-authority-'))
    const { digest = 'sha256', essDigest = 'sha256', lines = [] } = made
    const all = [`signer_digest = ${digest}`, `ess_cert_id_alg = ${essDigest}`, ...lines].join('\n')
    writeFileSync(join(this.folder, 'tsa.cnf'), `${config}${all}\n`)
    writeFileSync(join(this.folder, 'serial'), '01\n')
    this.#certificates(made)
  }

  get caFile(): string {
    return join(this.folder, 'ca.pem')
  }

  file(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }

  /** The response to a query, in DER. */
  reply(query: Uint8Array): Uint8Array {
    writeFileSync(join(this.folder, 'query'), query)
    this.#run('ts', '-reply', '-config', 'tsa.cnf', '-section', 't', '-queryfile', 'query', '-out', 'response')
    return new Uint8Array(readFileSync(join(this.folder, 'response')))
  }

  /** Makes another certificate of this name by the same CA, with these extensions. Gives the name of its files. */
  another(extensions: readonly string[]): string {
    const name = `other-${extensions.join('-').replace(/\W/g, '-')}`
    this.#request(name, elliptic, 'An authority')
    this.#sign(name, { issuer: 'ca', extensions, more: ['-days', '3000'] })
    return name
  }

  /** The time of a response signed anew with another certificate: `openssl ts` signs with none but right ones. */
  signedAnew(response: Uint8Array, name: string): Uint8Array {
    writeFileSync(join(this.folder, 'response'), response)
    this.#run('ts', '-reply', '-config', 'tsa.cnf', '-in', 'response', '-token_out', '-out', 'token')
    this.#run('cms', '-verify', '-noverify', '-inform', 'DER', '-in', 'token', '-out', 'time')
    const as = ['-binary', '-nodetach', '-cades', '-nosmimecap', '-econtent_type', '1.2.840.113549.1.9.16.1.4']
    const to = ['-in', 'time', '-outform', 'DER', '-out', 'token']
    this.#run('cms', '-sign', ...as, '-md', 'sha256', '-signer', `${name}.pem`, '-inkey', `${name}.key`, ...to)
    const token = readFileSync(join(this.folder, 'token'))
    const granted = [0x30, 3, 2, 1, 0]
    const length = granted.length + token.length
    return Uint8Array.from([0x30, 0x82, length >> 8, length & 255, ...granted, ...token])
  }

  /** True where `openssl ts` takes the response for this text, by the root of this authority. */
  takes(response: Uint8Array, text: string | Uint8Array): boolean {
    writeFileSync(join(this.folder, 'taken'), response)
    writeFileSync(join(this.folder, 'text'), text)
    const args = ['ts', '-verify', '-in', 'taken', '-data', 'text', '-CAfile', 'ca.pem']
    return spawnSync('openssl', args, { cwd: this.folder }).status === 0
  }

  /** Answers over HTTP from then on, at the address that it gives. */
  async serve(): Promise<string> {
    const server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#close = async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa` // it listens on a port
  }

  async remove(): Promise<void> {
    await this.#close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked.push(request)
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer) // a stream of bytes
    const query = new Uint8Array(Buffer.concat(pieces))
    if (this.manner !== undefined) return this.manner(request, response, query)
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(this.reply(query))
  }

  #certificates({
    key = elliptic,
    rootKey = elliptic,
    extensions = usualExtensions,
    between,
    rootExtensions = caExtensions,
    certificateDigest = 'sha256',
    validity = ['-days', '3000'],
  }: Made): void {
    const hash = `-${certificateDigest}`
    this.#request('ca', rootKey, 'A root')
    this.#extend('ca', rootExtensions)
    const root = ['-signkey', 'ca.key', '-extfile', 'ca.ext', '-days', '3000']
    this.#run('x509', '-req', hash, '-in', 'ca.csr', '-out', 'ca.pem', ...root)
    let issuer = 'ca'
    if (between !== undefined) {
      this.#request('between', rootKey, 'Between')
      this.#sign('between', { issuer, extensions: between, more: [hash, '-days', '3000'] })
      issuer = 'between'
    }
    this.#request('tsa', key, 'An authority')
    this.#sign('tsa', { issuer, extensions, more: [hash, ...validity] })
    writeFileSync(join(this.folder, 'chain.pem'), this.file(`${issuer}.pem`))
  }

  #request(name: string, key: readonly string[], subject: string): void {
    const to = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/O=Proofstream/CN=${subject}`]
    this.#run('req', '-nodes', '-newkey', ...key, ...to)
  }

  #extend(name: string, extensions: readonly string[]): void {
    writeFileSync(join(this.folder, `${name}.ext`), utf8(`${extensions.join('\n')}\n`))
  }

  #sign(
    name: string,
    of: { readonly issuer: string; readonly extensions: readonly string[]; readonly more: readonly string[] },
  ): void {
    this.#extend(name, of.extensions)
    const by = ['-CA', `${of.issuer}.pem`, '-CAkey', `${of.issuer}.key`, '-CAcreateserial', '-extfile', `${name}.ext`]
    this.#run('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...by, ...of.more)
  }

  #run(...args: string[]): void {
    const { status, stderr } = spawnSync('openssl', args, { cwd: this.folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`)
  }
}
