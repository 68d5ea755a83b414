// Whom a time stamp is of: the signature over it, the attributes that are signed with it, and the chain of certificates from its
// authority to one that the reader trusts, at the time that it says. Signatures and chains are checked by pkijs.

import { fromBER, ObjectIdentifier, OctetString, type Sequence } from 'asn1js'
import {
  type AlgorithmIdentifier,
  BasicConstraints,
  Certificate,
  CertificateChainValidationEngine,
  type Extension,
  ExtKeyUsage,
  type GeneralName,
  type SignerInfo,
} from 'pkijs'
import { fromBase64 } from '../base/base64.ts'
import { equalBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { checkDer } from './timestamp-der.ts'
import { asDecodeError, childrenOf, type OpenedTimestamp, openTimestamp, refuse } from './timestamp-token.ts'

export type TrustedCertificates = readonly Certificate[]

export interface CheckedTimestamp {
  readonly atMs: number
  /** Subject of the authority's certificate: `O=Example, CN=Authority`. */
  readonly authority: string
}

/** A time stamp that may be good: none of the certificates that the reader trusts vouches for its authority. */
export class UnknownAuthority extends DecodeError {
  constructor() {
    super('time stamp', 'is of an authority that no trusted certificate vouches for')
  }
}

const oids = {
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  extKeyUsage: '2.5.29.37',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  anyUsage: '2.5.29.37.0',
  rsa: '1.2.840.113549.1.1.1',
} as const
const digests: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'SHA-256',
  '2.16.840.1.101.3.4.2.2': 'SHA-384',
  '2.16.840.1.101.3.4.2.3': 'SHA-512',
}
/** RSA (PKCS #1) and ECDSA, each with one of these digests. */
const signatureOids = [
  ...['11', '12', '13'].map((last) => `1.2.840.113549.1.1.${last}`),
  ...['2', '3', '4'].map((last) => `1.2.840.10045.4.3.${last}`),
]
/** Critical extensions that are looked at here or by the library. */
const knownCritical: readonly string[] = [
  oids.keyUsage,
  oids.basicConstraints,
  oids.extKeyUsage,
  '2.5.29.30',
  '2.5.29.17',
]
const leastRsaBits = 2048
const mostAbove = 8
const nameParts: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
}

/** The certificates of a PEM file, one or more. Throws DecodeError. */
export function readCertificates(pem: string): TrustedCertificates {
  const found = [...pem.matchAll(/-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE-----/g)]
  if (found.length === 0) throw new DecodeError('certificates', 'has none in PEM')
  return found.map(([, base64 = '']) => {
    const bytes = fromBase64(base64.replace(/\s+/g, ''))
    if (bytes === undefined) throw new DecodeError('certificates', 'has one that is no base64')
    checkDer(bytes)
    return asDecodeError(() => Certificate.fromBER(bytes))
  })
}

/** Checks a response over a text by the certificates that are trusted. Throws UnknownAuthority, DecodeError where anything is not as it must be. */
export async function checkTimestamp(
  response: Uint8Array,
  text: string,
  trusted: TrustedCertificates,
): Promise<CheckedTimestamp> {
  const opened = openTimestamp(response, text)
  try {
    const certificate = await signerOf(opened, text)
    await checkChain(certificate, opened, trusted)
    return { atMs: opened.atMs, authority: nameOf(certificate) }
  } catch (error) {
    if (error instanceof DecodeError) throw error
    return refuse('cannot be checked: it is of another form, or of algorithms that are not known here')
  }
}

/** The certificate whose key has signed. */
async function signerOf({ signed, content, info }: OpenedTimestamp, text: string): Promise<Certificate> {
  const [signer] = signed.signerInfos
  if (signer === undefined) return refuse('has no signer')
  const digest = digests[signer.digestAlgorithm.algorithmId]
  if (digest === undefined) return refuse('has a digest that is not taken')
  const [announced, ...others] = signed.digestAlgorithms.map(({ algorithmId }) => algorithmId)
  if (announced !== signer.digestAlgorithm.algorithmId || others.length > 0) refuse('announces another digest')
  checkAlgorithm(signer.signatureAlgorithm, [...signatureOids, oids.rsa])
  // Attributes are named once each, so that all readers take the same one.
  if (!equalBytes(octets(attribute(signer, oids.messageDigest)), await hashed(digest, content))) {
    refuse('is not what was signed')
  }
  const type = attribute(signer, oids.contentType)
  if (!(type instanceof ObjectIdentifier) || type.getValue() !== oids.tstInfo) refuse('is signed as something else')
  const certificates = (signed.certificates ?? []).filter((one) => one instanceof Certificate)
  const named = await namedCertificate(signer, certificates)
  if (named === undefined) return refuse('does not name its certificate, or has it not')
  checkSignatureForm(signer.signatureAlgorithm, octets(signer.signature))
  const isSigned = await signed.verify({ signer: 0, data: copy(utf8(text)).buffer }).catch(() => false)
  if (!isSigned) refuse('has a signature that is not good')
  if (info.tsa !== undefined && !isNamed(named, nameBytes(info.tsa))) refuse('names another authority')
  return named
}

type Asn = ReturnType<typeof fromBER>['result']

function attribute({ signedAttrs }: SignerInfo, type: string): Asn | undefined {
  const found = signedAttrs?.attributes.filter((one) => one.type === type) ?? []
  const [value, ...more] = found[0]?.values ?? []
  if (found.length > 1 || more.length > 0) refuse('has a signed attribute twice')
  return value as Asn | undefined // as it was parsed
}

function octets(value: Asn | undefined): Uint8Array {
  return value instanceof OctetString ? new Uint8Array(value.getValue()) : new Uint8Array()
}

/** That which the signed attribute has the hash of, and which the signature says it is of. */
async function namedCertificate(signer: SignerInfo, all: readonly Certificate[]): Promise<Certificate | undefined> {
  const second = attribute(signer, oids.signingCertificateV2)
  const [ids] = childrenOf(second ?? attribute(signer, oids.signingCertificate))
  const parts = childrenOf(childrenOf(ids)[0])
  const isHashNamed = childrenOf(parts[0]).length > 0
  const [oid] = childrenOf(parts[0])
  const named = oid instanceof ObjectIdentifier ? digests[oid.getValue()] : undefined
  const digest = second === undefined ? 'SHA-1' : isHashNamed ? named : 'SHA-256'
  if (digest === undefined) return undefined
  const hash = octets(parts[isHashNamed && second !== undefined ? 1 : 0])
  for (const certificate of all) {
    if (!isOf(signer, certificate)) continue
    if (equalBytes(hash, await hashed(digest, bytesOf(certificate)))) return certificate
  }
  return undefined
}

/** By issuer and serial number; a signer that is named by its key is another form, which is not taken. */
function isOf({ sid }: SignerInfo, { issuer, serialNumber }: Certificate): boolean {
  const { issuer: by, serialNumber: number } = (sid ?? {}) as Partial<Certificate> // has both where it is of that form
  return (
    by !== undefined && number !== undefined && equalBytes(berOf(by), berOf(issuer)) && number.isEqual(serialNumber)
  )
}

/** Up to a trusted certificate, by signatures, all of them good at the time of the stamp. */
async function checkChain(
  certificate: Certificate,
  { signed, atMs }: OpenedTimestamp,
  trusted: readonly Certificate[],
): Promise<void> {
  checkAuthority(certificate)
  const others = (signed.certificates ?? []).filter((one) => one instanceof Certificate)
  const path = [certificate]
  const isTrusted = (certificate: Certificate): boolean => trusted.some((one) => isSame(one, certificate))
  // The authority's own may be among the trusted ones: that of a CA has to be, too.
  for (let last = certificate; path.length < 2 || !isTrusted(last); path.push(last)) {
    if (path.length > mostAbove) refuse('has a chain of certificates that is too long')
    const next = await issuerOf(last, [...trusted, ...others.filter((one) => !path.includes(one))])
    if (next === undefined) throw new UnknownAuthority()
    checkIssuer(next, path.length - 1)
    last = next
  }
  for (const one of path) await checkEach(one, atMs)
  const certs = path.slice(1, -1).concat(certificate)
  const engine = new CertificateChainValidationEngine({
    trustedCerts: path.slice(-1),
    certs,
    checkDate: new Date(atMs),
  })
  const { result } = await engine.verify()
  if (!result) refuse('has a chain of certificates that is not good')
}

async function issuerOf(certificate: Certificate, all: readonly Certificate[]): Promise<Certificate | undefined> {
  checkAlgorithm(certificate.signatureAlgorithm, signatureOids)
  if (!equalBytes(berOf(certificate.signature), berOf(certificate.signatureAlgorithm))) {
    refuse('has a certificate that names two algorithms')
  }
  const { unusedBits, valueHexView } = certificate.signatureValue.valueBlock
  if (unusedBits !== 0) refuse('has a certificate with a signature of no whole bytes')
  checkSignatureForm(certificate.signatureAlgorithm, valueHexView)
  for (const one of all) {
    if (!certificate.issuer.isEqual(one.subject)) continue
    if (await certificate.verify(one).catch(() => false)) return one
  }
  return undefined
}

function extensionOf({ extensions }: Certificate, oid: string): Extension | undefined {
  return extensions?.find(({ extnID }) => extnID === oid)
}

/** For time stamping and for nothing else. */
function checkAuthority(certificate: Certificate): void {
  const usage = extensionOf(certificate, oids.extKeyUsage)
  const purposes: unknown = usage?.parsedValue
  const isAlone =
    purposes instanceof ExtKeyUsage &&
    purposes.keyPurposes.length === 1 &&
    purposes.keyPurposes[0] === oids.timeStamping
  if (usage?.critical !== true || !isAlone) refuse('is of a certificate that is not for time stamps alone')
  const bits = keyUsageOf(certificate)
  // Signatures and non-repudiation, one or both.
  if (bits !== undefined && ((bits & 0xc0) === 0 || (bits & ~0xc0) !== 0)) {
    refuse('is of a certificate whose key has another use')
  }
}

/** A CA that signs certificates, with room for so many CAs below it. */
function checkIssuer(certificate: Certificate, below: number): void {
  const constraints: unknown = extensionOf(certificate, oids.basicConstraints)?.parsedValue
  const isCa = constraints instanceof BasicConstraints && constraints.cA
  if (!isCa || ((keyUsageOf(certificate) ?? 0) & 0x04) === 0) refuse('has a certificate by one that is no CA')
  const most: unknown = isCa ? constraints.pathLenConstraint : undefined
  if (typeof most === 'number' && most < below) refuse('has more CAs than one of them allows')
  const purposes: unknown = extensionOf(certificate, oids.extKeyUsage)?.parsedValue
  if (!(purposes instanceof ExtKeyUsage)) return
  if (!purposes.keyPurposes.some((one) => one === oids.timeStamping || one === oids.anyUsage)) {
    refuse('has a CA that is not for time stamps')
  }
}

/** The first byte of its bits; undefined where it says nothing. */
function keyUsageOf(certificate: Certificate): number | undefined {
  const usage = extensionOf(certificate, oids.keyUsage)
  const value = usage && fromBER(usage.extnValue.valueBlock.valueHexView).result
  if (value === undefined) return undefined
  // A bit string has its bytes there.
  const [first = 0, second = 0] = (value as OctetString).valueBlock.valueHexView
  return second === 0 ? first : first | 0x3f
}

async function checkEach(certificate: Certificate, atMs: number): Promise<void> {
  const { notBefore, notAfter, extensions = [] } = certificate
  if (notBefore.value.getTime() > atMs || notAfter.value.getTime() < atMs) {
    refuse('has a certificate that was not valid at its time')
  }
  const names = extensions.map(({ extnID }) => extnID)
  if (new Set(names).size < names.length) refuse('has a certificate with an extension twice')
  if (extensions.some(({ critical, extnID }) => critical && !knownCritical.includes(extnID))) {
    refuse('has a certificate with an extension that nothing here knows')
  }
  const { algorithm } = await certificate.getPublicKey()
  if ('modulusLength' in algorithm && Number(algorithm.modulusLength) < leastRsaBits) {
    refuse(`has a key of fewer than ${leastRsaBits} bits`)
  }
}

function checkAlgorithm({ algorithmId }: AlgorithmIdentifier, taken: readonly string[]): void {
  if (!taken.includes(algorithmId)) refuse('has a signature of an algorithm that is not taken')
}

function nameBytes(name: GeneralName): Uint8Array {
  const schema = name.toSchema()
  return 'toBER' in schema ? new Uint8Array(schema.toBER()) : refuse('names its authority in another form')
}

/** Those of ECDSA are two numbers in DER. */
function checkSignatureForm({ algorithmId }: AlgorithmIdentifier, signature: Uint8Array): void {
  if (algorithmId.startsWith('1.2.840.10045.')) checkDer(signature)
}

/** As the subject, or as one of the other names of the certificate. */
function isNamed(certificate: Certificate, bytes: Uint8Array): boolean {
  const directory = fromBER(bytes).result
  const [inner] = (directory as Sequence).valueBlock.value // a directory name holds a name
  if (inner !== undefined && equalBytes(new Uint8Array(inner.toBER()), berOf(certificate.subject))) return true
  const others = extensionOf(certificate, '2.5.29.17')?.extnValue.valueBlock.valueHexView
  return others !== undefined && includes(others, bytes)
}

function includes(from: Uint8Array, bytes: Uint8Array): boolean {
  for (let at = 0; at + bytes.length <= from.length; at++) {
    if (equalBytes(from.subarray(at, at + bytes.length), bytes)) return true
  }
  return false
}

function berOf(value: { toSchema(): { toBER(): ArrayBuffer } }): Uint8Array {
  return new Uint8Array(value.toSchema().toBER())
}

function bytesOf(certificate: Certificate): Uint8Array {
  return new Uint8Array(certificate.toSchema().toBER())
}

function isSame(a: Certificate, b: Certificate): boolean {
  return equalBytes(bytesOf(a), bytesOf(b))
}

async function hashed(digest: string, bytes: Uint8Array): Promise<Uint8Array> {
  if (digest === 'SHA-256') return sha256(bytes)
  return new Uint8Array(await crypto.subtle.digest(digest, copy(bytes)))
}

function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}

function nameOf({ subject }: Certificate): string {
  return subject.typesAndValues
    .map(({ type, value }) => `${nameParts[type] ?? type}=${String(value.valueBlock.value)}`)
    .join(', ')
}
