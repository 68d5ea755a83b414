// Time stamps of authorities: the request for one over a text, and a response opened, with all that can be said of it without trust
// in anybody. Loads pkijs, which a node without `--tsa` never does. Source: https://www.rfc-editor.org/rfc/rfc3161

import { fromBER, GeneralizedTime, Integer, Null, OctetString, type Sequence } from 'asn1js'
import {
  AlgorithmIdentifier,
  ContentInfo,
  EncapsulatedContentInfo,
  MessageImprint,
  SignedData,
  TimeStampReq,
  TSTInfo,
} from 'pkijs'
import { decodeUtf8, equalBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { checkDer } from './timestamp-der.ts'

/** No response is longer. */
export const maxTimestampBytes = 65_536

const sha256Oid = '2.16.840.1.101.3.4.2.1'
const tstInfoOid = '1.2.840.113549.1.9.16.1.4'
const mostCertificates = 16

/** A response that has what was asked for. Its signature is not checked. */
export interface OpenedTimestamp {
  readonly atMs: number
  readonly info: TSTInfo
  readonly signed: SignedData
  /** The bytes of `info`, which the signature is over. */
  readonly content: Uint8Array
}

/** The request for a time stamp over a text. The nonce, 8 bytes or more, comes back in the response. */
export function timestampRequest(text: string, nonce: Uint8Array): Uint8Array {
  const request = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: sha256Oid, algorithmParams: new Null() }),
      hashedMessage: new OctetString({ valueHex: sha256(utf8(text)) }),
    }),
    nonce: new Integer({ valueHex: positive(nonce) }),
    certReq: true,
  })
  return new Uint8Array(request.toSchema().toBER())
}

/** As a number that is not negative, in as many bytes, the first of which is not 0. */
function positive(nonce: Uint8Array): Uint8Array {
  const number = Uint8Array.from(nonce)
  number[0] = ((number[0] ?? 0) & 0x7f) | 0x40
  return number
}

/** Opens a response: it grants a time for this text, and for this nonce where one is named. Throws DecodeError. */
export function openTimestamp(response: Uint8Array, text: string, nonce?: Uint8Array): OpenedTimestamp {
  if (response.length > maxTimestampBytes) refuse(`is longer than ${maxTimestampBytes} bytes`)
  checkDer(response)
  return asDecodeError(() => {
    const signed = signedData(response)
    const { eContentType, eContent } = signed.encapContentInfo
    if (eContentType !== tstInfoOid || eContent === undefined) return refuse('has another content than a time')
    const content = new Uint8Array(eContent.getValue())
    checkDer(content)
    const info = TSTInfo.fromBER(content)
    if (info.version !== 1) refuse('is of another version')
    checkImprint(info, text)
    if (nonce !== undefined && !isNumber(info.nonce, positive(nonce))) refuse('is an answer to another request')
    if (info.extensions?.some(({ critical }) => critical) === true) refuse('has an extension that nothing here knows')
    return { atMs: timeOf(content), info, signed, content }
  })
}

function signedData(response: Uint8Array): SignedData {
  // checkDer has seen that the outermost is one value.
  const [status, token, ...more] = childrenOf(fromBER(response).result)
  const [code] = childrenOf(status)
  const granted = code instanceof Integer ? code.valueBlock.valueDec : undefined
  if (granted !== 0 && granted !== 1) refuse(`is refused, with the status ${granted ?? 'of no form'}`)
  if (token === undefined || more.length > 0) refuse('has no token')
  const outer = new ContentInfo({ schema: token })
  if (outer.contentType !== ContentInfo.SIGNED_DATA) refuse('has no signed data')
  const signed = new SignedData({ schema: outer.content })
  const { signerInfos, certificates = [] } = signed
  if (signerInfos.length !== 1) refuse('has not one signer')
  if (certificates.length > mostCertificates) refuse(`has more than ${mostCertificates} certificates`)
  if (!(signed.encapContentInfo instanceof EncapsulatedContentInfo)) refuse('has no content')
  return signed
}

type Asn = ReturnType<typeof fromBER>['result']

/** What a sequence holds; nothing where it is none. */
export function childrenOf(value: Asn | undefined): readonly Asn[] {
  const isSequence = value?.idBlock.tagClass === 1 && value.idBlock.tagNumber === 16
  // The tag of a sequence says so.
  return isSequence ? ((value as Sequence).valueBlock.value as Asn[]) : []
}

function checkImprint({ messageImprint }: TSTInfo, text: string): void {
  const { hashAlgorithm, hashedMessage } = messageImprint
  const isSha256 = hashAlgorithm.algorithmId === sha256Oid
  const digest = new Uint8Array(hashedMessage.getValue())
  if (!isSha256 || !equalBytes(digest, sha256(utf8(text)))) refuse('is over another text')
}

function isNumber(integer: Integer | undefined, expected: Uint8Array): boolean {
  return integer !== undefined && equalBytes(new Uint8Array(integer.valueBlock.valueHexView), expected)
}

/** In milliseconds since 1970; what is finer is cut off. */
function timeOf(content: Uint8Array): number {
  const time = childrenOf(fromBER(content).result)[4]
  if (!(time instanceof GeneralizedTime)) return refuse('has no time')
  const text = decodeUtf8(new Uint8Array(time.valueBlock.valueHexView))
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d*[1-9]))?Z$/.exec(text) ?? []
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
  const atMs = Date.parse(iso)
  // A day that a month has not is another day to some.
  if (Number.isNaN(atMs) || new Date(atMs).toISOString() !== iso) refuse('has a time of another form')
  return atMs
}

/** What the library throws where values are not as they should be is a fault of the bytes. */
export function asDecodeError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) throw error
    return refuse('is not of the form of RFC 3161')
  }
}

export function refuse(reason: string): never {
  throw new DecodeError('time stamp', reason)
}
