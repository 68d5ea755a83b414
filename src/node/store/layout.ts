// Where everything is: the only place that knows the keys of the object store and the paths of the data directory.
// Keys are `/`-joined segments of ASCII letters, digits, `.`, `_`, `-`; no segment begins with a dot. Whatever goes
// into a key (an id, a hash, an alias) is checked here before it becomes part of a path.

import type { Retired } from '../../libraries/proof/signer.ts'
import { join } from 'node:path'
import { type DatasetId, type Hash, datasetIdPattern, hashPattern } from '../../libraries/base/ids/identifiers.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { foldAscii, isName } from '../../libraries/model/names.ts'

const didPrefix = 'did:odf:'
const segmentPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/
const numberPattern = /^(?:0|[1-9][0-9]{0,15})$/
const maxKeyLength = 1_000

function refuse(what: string, text: string): never {
  throw new DecodeError('store key', `${what} expected, not ${JSON.stringify(text.slice(0, 120))}`)
}

function segment(what: string, text: string): string {
  return segmentPattern.test(text) ? text : refuse(what, text)
}

function sha256Hex(hash: string): string {
  return /^[0-9a-f]{64}$/.test(hash) ? hash : refuse('64 digits of hex', hash)
}

function number(what: string, value: number): string {
  return Number.isSafeInteger(value) && value >= 0 ? String(value) : refuse(what, String(value))
}

/** Throws `DecodeError` unless `key` could have been made here; adapters call it before they touch anything. */
export function checkKey(key: string): void {
  if (key.length > maxKeyLength || !key.split('/').every((part) => segmentPattern.test(part))) {
    refuse('segments of letters, digits, ".", "_", "-" joined by "/"', key)
  }
}

/** True for a name that may stand between two slashes of a key. */
export function isSegment(name: string): boolean {
  return segmentPattern.test(name)
}

export const namesPrefix = 'names'
export const aliasesPrefix = 'aliases'
export const datasetsPrefix = 'datasets'
export const deletionsPrefix = 'deletions'
export const logsPrefix = 'logs'
export const tokensPrefix = 'tokens'
export const floorsPrefix = 'progress'
export const adoptionsPrefix = 'adoptions'
export const rejectsRoot = 'rejects'
export const signersPrefix = 'signers'
export const retiredKeysPrefix = 'retired-keys'
export const queriesPrefix = 'queries'
export const ledgerKeysPrefix = 'ledger-keys'
export const ledgerStatesPrefix = 'ledger-states'
export const ledgerPlacesPrefix = 'ledger-places'
export const ledgerLeftPrefix = 'ledger-left'
export const ledgerHeadsPrefix = 'ledger-heads'
export const ledgerEvidencePrefix = 'ledger-evidence'

/** `names/<account>/<dataset>` in lower case. `alias` is `account/dataset` in any ASCII case. */
export function nameKey(alias: string): string {
  const parts = alias.split('/')
  if (parts.length !== 2 || !parts.every(isName)) refuse('an alias account/dataset', alias)
  return `${namesPrefix}/${foldAscii(alias)}`
}

/** `aliases/<account>/<dataset>` in lower case: the later generations of a name. `alias` as of `nameKey`. */
export function generationsPrefix(alias: string): string {
  return aliasesPrefix + nameKey(alias).slice(namesPrefix.length)
}

/** `aliases/<account>/<dataset>/<generation>`, from 1 on; generation 0 is the name itself. */
export function generationKey(alias: string, generation: number): string {
  return generation === 0 ? nameKey(alias) : `${generationsPrefix(alias)}/${number('a generation', generation)}`
}

/** The name of a dataset under `datasets/`: the multibase part of its DID. */
export function datasetFolder(id: DatasetId): string {
  return datasetIdPattern.test(id) ? id.slice(didPrefix.length) : refuse('a dataset id (did:odf:fed01…)', id)
}

/** `datasets/<multibase part of the DID>`: the root of one dataset, itself an ODF repository. */
export function datasetKey(id: DatasetId): string {
  return `${datasetsPrefix}/${datasetFolder(id)}`
}

/** `deletions/<multibase part of the DID>`: when a dataset was deleted and restored. */
export function deletionsOf(id: DatasetId): string {
  return `${deletionsPrefix}/${datasetFolder(id)}`
}

/** `…/<sequence>`: `sequence` is that of the block that says it. */
export function deletionKey(id: DatasetId, sequence: number): string {
  return `${deletionsOf(id)}/${number('a sequence number', sequence)}`
}

/** `…/clock`: an empty object that is replaced to learn the time of the store. */
export function deletionClockKey(id: DatasetId): string {
  return `${deletionsOf(id)}/clock`
}

/** The dataset of a name under `datasets/`, or undefined when it names none. */
export function datasetOfFolder(folder: string): DatasetId | undefined {
  const id = didPrefix + folder
  return datasetIdPattern.test(id) ? id : undefined
}

/** `…/refs/head`: a hint, the hash of a recent head. */
export const headKey = inDataset('refs/head')
export const blocksPrefix = inDataset('blocks')
export const blockKey = objectIn('blocks')
/** `…/data/<physical hash>`: one slice. */
export const dataKey = objectIn('data')
export const dataPrefix = inDataset('data')
export const checkpointsPrefix = inDataset('checkpoints')
export const checkpointKey = objectIn('checkpoints')
export const commitsPrefix = inDataset('commits')

function inDataset(folder: string): (id: DatasetId) => string {
  return (id) => `${datasetKey(id)}/${folder}`
}

function objectIn(folder: string): (id: DatasetId, hash: Hash) => string {
  return (id, hash) =>
    hashPattern.test(hash)
      ? `${datasetKey(id)}/${folder}/${hash}`
      : refuse('a sha3-256 multihash in lower-case base16 (f1620…)', hash)
}

/** `…/commits/<sequence>`: `sequence` is that of the commit's first new block, plain decimal. */
export function commitKey(id: DatasetId, sequence: number): string {
  return `${commitsPrefix(id)}/${number('a sequence number', sequence)}`
}

/** `…/packs`: the records of the chain's packs, by level. */
export const packsPrefix = inDataset('packs')

/** `…/packs/<level>`. */
export function packLevelPrefix(id: DatasetId, level: number): string {
  return `${packsPrefix(id)}/${number('a level', level)}`
}

/** `…/packs/<level>/<number>`: the record that names the pack of a range of first sequences. */
export function packKey(id: DatasetId, level: number, place: number): string {
  return `${packLevelPrefix(id, level)}/${number('the number of a pack', place)}`
}

export const packFilesPrefix = inDataset('packs/files')
/** `…/packs/files/<hash>`: one pack. */
export const packFileKey = objectIn('packs/files')

/** True for the key of a pack: a large file of which readers take a few bytes here and there. */
export function isPackFile(key: string): boolean {
  return key.includes('/packs/files/')
}

/** True for the key of a pack, and of the record that names one. */
export function isOfPack(key: string): boolean {
  return key.includes('/packs/')
}

/** An object of a chain that packs hold too, as its key says; undefined for any other key. */
export type PackableKey =
  | { readonly id: DatasetId; readonly kind: 'blocks' | 'data' | 'checkpoints'; readonly hash: Hash }
  | { readonly id: DatasetId; readonly kind: 'commits'; readonly sequence: number }

const packablePattern = /^datasets\/([^/]+)\/(?:(blocks|data|checkpoints)\/(f1620[0-9a-f]{64})|commits\/([0-9]+))$/

export function packableOf(key: string): PackableKey | undefined {
  const [, folder = '', kind, hash, name] = packablePattern.exec(key) ?? []
  const id = datasetOfFolder(folder)
  if (id === undefined) return undefined
  if (kind === 'blocks' || kind === 'data' || kind === 'checkpoints') return { id, kind, hash: hash ?? '' }
  const sequence = name === undefined ? undefined : numberOfName(name)
  return sequence === undefined ? undefined : { id, kind: 'commits', sequence }
}

/** `logs/<log id>`. */
export function logKey(logId: string): string {
  return `${logsPrefix}/${segment('a log id', logId)}`
}

/** `adoptions/<old log id>`: what became of a log that was given up. */
export function adoptionKey(oldLogId: string): string {
  return `${adoptionsPrefix}/${segment('a log id', oldLogId)}`
}

/** `progress/<log>/<partition>`: the floors of one partition, and `…/<position>`: one of them. */
export const progressPrefix = ofPartition(floorsPrefix)
export const progressKey = atPosition(floorsPrefix)
/** `rejects/<log>/<partition>`: the messages of it that operators have rejected, and `…/<position>`: one of them. */
export const rejectsPrefix = ofPartition(rejectsRoot)
export const rejectKey = atPosition(rejectsRoot)

function ofPartition(root: string): (logId: string, partition: number) => string {
  return (logId, partition) => `${root}/${segment('a log id', logId)}/${number('a partition', partition)}`
}

function atPosition(root: string): (logId: string, partition: number, position: number) => string {
  const prefix = ofPartition(root)
  return (logId, partition, position) => `${prefix(logId, partition)}/${number('a log position', position)}`
}

/** `signers/<multibase part of the did:key>`: a key that a node over this store has signed with. */
export function signerKey(key: string): string {
  return `${signersPrefix}/${segment('a key', key)}`
}

/** `retired-keys/<multibase part of the did:key>/rotated|leaked`: since when nobody signs with this key any more, and why. */
export function retiredKeyKey(key: string, why: Retired['why']): string {
  return `${retiredKeysPrefix}/${segment('a key', key)}/${why}`
}

/** `tokens/<id>`: one access token's record (its hash, never its text). */
export function tokenKey(id: string): string {
  return `${tokensPrefix}/${segment('a token id', id)}`
}

/** `queries/<name>`: one saved query. */
export function savedQueryKey(name: string): string {
  return `${queriesPrefix}/${segment('the name of a query', name)}`
}

/**
 * `ledger/<name>`: what the ledger shows to everybody, under the names of its routes. Of the n-th ledger of a store, from 2
 * on, `ledger/<n>/<name>`.
 */
export function ledgerObjectKey(ledger: number, name: string): string {
  return `${ledgerFolder(ledger)}/${name}`
}

/** `ledger`, or `ledger/<n>`: also the path of the routes that show it. */
export function ledgerFolder(ledger: number): string {
  return ledger === 1 ? 'ledger' : `ledger/${number('the number of a ledger', ledger)}`
}

/** `ledger/batches/<number>`: the entries of one batch. */
export function ledgerBatchKey(ledger: number, batch: number): string {
  return ledgerObjectKey(ledger, `batches/${number('the number of a batch', batch)}`)
}

/** `ledger-keys/<multibase part of the DID>`: the ledger key of a dataset, a secret. */
export function ledgerKeyKey(id: DatasetId): string {
  return `${ledgerKeysPrefix}/${datasetFolder(id)}`
}

/** `ledger-states/<ledger>`. */
export function ledgerStatesOf(ledger: number): string {
  return `${ledgerStatesPrefix}/${number('the number of a ledger', ledger)}`
}

/** `ledger-states/<ledger>/<batch>`: what follows from the batches up to this one, so that a start need not read them all. */
export function ledgerStateKey(ledger: number, batch: number): string {
  return `${ledgerStatesOf(ledger)}/${number('the number of a batch', batch)}`
}

/** `ledger-left/<tag of the dataset in hex>`. */
export function ledgerLeftOf(tag: string): string {
  return `${ledgerLeftPrefix}/${tag}`
}

/** `ledger-left/<tag>/<sequence>`: entries of a removed dataset that are not in the ledger yet, from this block on. */
export function ledgerLeftKey(tag: string, sequence: number): string {
  return `${ledgerLeftOf(tag)}/${number('a sequence number', sequence)}`
}

/**
 * `ledger-places/<ledger>/<tag of the dataset in hex>/<n>`: where the entries of the n-th 64 blocks of a dataset are in the tree.
 */
export function ledgerPlacesKey(ledger: number, tag: string, group: number): string {
  if (!/^[0-9a-f]{64}$/.test(tag)) refuse('the tag of a dataset', tag)
  const folder = `${ledgerPlacesPrefix}/${number('the number of a ledger', ledger)}`
  return `${folder}/${tag}/${number('the number of a group of places', group)}`
}

/** `ledger-heads/<ledger>/met`: the newest head whose quorum has cosigned, where the one that is shown has none. */
export function ledgerMetKey(ledger: number): string {
  return `${ledgerHeadsPrefix}/${number('the number of a ledger', ledger)}/met`
}

/** `ledger-heads/<ledger>/timestamps`: which heads have a time stamp, the newest of them. */
export function ledgerStampsKey(ledger: number): string {
  return `${ledgerHeadsPrefix}/${number('the number of a ledger', ledger)}/timestamps`
}

/** `ledger/timestamps/<size>.tsr`: what an authority answered, and `.head` the head that it was asked for. */
export function ledgerStampKey(ledger: number, size: number, kind: 'tsr' | 'head'): string {
  return ledgerObjectKey(ledger, `timestamps/${number('the size of a head', size)}.${kind}`)
}

/** `ledger-evidence/<ledger>`: heads that others hold and that the ledger cannot have. */
export function ledgerEvidenceOf(ledger: number): string {
  return `${ledgerEvidencePrefix}/${number('the number of a ledger', ledger)}`
}

/** `ledger-evidence/<ledger>/<SHA-256 of the head, in hex>`. */
export function ledgerEvidenceKey(ledger: number, name: string): string {
  return `${ledgerEvidenceOf(ledger)}/${segment('the hash of a head', name)}`
}

/** `ledger/witness`: what this installation has cosigned of ledgers elsewhere. No backup has it: a witness is never put back. */
export const witnessPrefix = 'ledger/witness'

/** `ledger/witness/<SHA-256 of the origin, in hex>`: what was cosigned of one ledger. */
export function witnessedPrefix(originHash: string): string {
  return `${witnessPrefix}/${sha256Hex(originHash)}`
}

/** `…/<number>`: one cosigned head; the highest number counts. */
export function witnessedKey(originHash: string, place: number): string {
  return `${witnessedPrefix(originHash)}/${number('the number of a head', place)}`
}

/** `…/checked`: the entries of the ledger that this installation has checked as its follower. */
export function checkedKey(originHash: string): string {
  return `${witnessedPrefix(originHash)}/checked`
}

/** `…/evidence`: heads that the ledger has signed and this witness has not. */
export function evidencePrefix(originHash: string): string {
  return `${witnessedPrefix(originHash)}/evidence`
}

/** `…/evidence/<SHA-256 of the text of the head, in hex>`. */
export function evidenceKey(originHash: string, head: string): string {
  return `${evidencePrefix(originHash)}/${sha256Hex(head)}`
}

/** `ledger/witness/keys/<public key in hex>`: a key that signs over this store, and over no other. */
export function witnessKeyKey(publicKey: string): string {
  return `${witnessPrefix}/keys/${sha256Hex(publicKey)}`
}

/** `secrets/<name>`: a secret that every process of the installation shares, such as the receipts' checksum key. */
export function secretKey(name: string): string {
  return `secrets/${segment('the name of a secret', name)}`
}

/** The number that a plain decimal name of `commits/`, `progress/`, `rejects/` or `aliases/` stands for, or undefined when it is none. */
export function numberOfName(name: string): number | undefined {
  const value = numberPattern.test(name) ? Number(name) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** Places in a node's data directory. */
export interface DataPaths {
  /** The node's signing key, 0600. */
  readonly nodeKey: string
  /** The key that signs heads of the ledger, 0600. */
  readonly ledgerKey: string
  /** The key that cosigns heads of ledgers elsewhere, 0600. In no backup. */
  readonly witnessKey: string
  /** The same of heads whose entries were checked. */
  readonly followerKey: string
  readonly keys: string
  /** The first admin token and a newline, 0600. */
  readonly token: string
  /** The first word of MQTT client ids, where the node key may be others' too. */
  readonly mqttClientId: string
  readonly log: string
  readonly store: string
  /** Engines of other versions, by version. */
  readonly engines: string
  /** Notes of large blocks while they are built. */
  readonly builds: string
  /** Derived; deletable at any time the node is down. */
  readonly cache: string
  /** What a node that is followed has said of its chains and cannot be. */
  readonly evidence: string
}

/** Paths inside the data directory `dir`; the store may be elsewhere. */
export function dataPaths(dir: string, store: string = join(dir, 'store')): DataPaths {
  return {
    nodeKey: join(dir, 'keys', 'node.json'),
    ledgerKey: join(dir, 'keys', 'ledger.json'),
    witnessKey: join(dir, 'keys', 'witness.json'),
    followerKey: join(dir, 'keys', 'follower.json'),
    keys: join(dir, 'keys'),
    token: join(dir, 'token'),
    mqttClientId: join(dir, 'mqtt-client-id'),
    log: join(dir, 'log'),
    store,
    engines: join(dir, 'engines'),
    builds: join(dir, 'builds'),
    cache: join(dir, 'cache'),
    evidence: join(dir, 'evidence'),
  }
}
