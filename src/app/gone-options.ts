// Options that a node once had. They are refused with what is written in their place: one that was ignored would change what the
// node does without a word.

const store = (parameter: string): string => `it is a parameter of --store now: 's3://bucket/prefix?${parameter}'`
const log = (parameter: string): string => `it is a parameter of --log now: 'kafka://host:9092/prefix?${parameter}'`

const ofMemory =
  'it follows from the memory of the node: give it more or less (systemd MemoryMax, docker run -m). GET /limits shows what follows'
const constant = 'it is a constant now, which GET /limits shows'

const instead: readonly (readonly [string, string])[] = [
  ['s3-endpoint', store('endpoint=https://host:9000')],
  ['s3-region', store('region=…')],
  ['s3-path-style', store('path-style=true')],
  ['s3-condition', store('condition=gcs')],
  ['kafka-brokers', 'they are in --log now: kafka://host:9092,host2:9092/prefix'],
  ['topic-prefix', 'it is in --log now: kafka://host:9092/prefix'],
  ['partitions', log('partitions=8')],
  ['kafka-tls', log('tls=true')],
  ['kafka-tls-ca', log('ca=<file>')],
  ['kafka-tls-cert', log('cert=<file>&key=<file>')],
  ['kafka-tls-key', log('cert=<file>&key=<file>')],
  ['kafka-sasl-mechanism', log('mechanism=scram-sha-512')],
  ['kafka-sasl-username', 'it is in --log now: kafka://user@host:9092/prefix'],
  [
    'kafka-sasl-password',
    'it is in the environment as PROOFSTREAM_LOG_PASSWORD, or in the file that --log has as password-file',
  ],
  ['slice-cache', 'copies of slices are in <data>/cache'],
  ['limit-query-memory-bytes', `${ofMemory}: 1 GiB at most`],
  ['limit-concurrent-queries', ofMemory],
  ['limit-export-slots', ofMemory],
  ['limit-catalog-bytes', ofMemory],
  ['limit-open-ingest-bytes', constant],
  ['limit-caller-share', constant],
  ['limit-listeners', constant],
  ['limit-columns', constant],
  ['limit-export-bytes', constant],
  ['limit-export-ms', constant],
]

/** What is said of each, by its name. */
export const goneOptions: ReadonlyMap<string, string> = new Map(
  instead.map(([name, text]) => [name, `Option '${name}' is gone: ${text}.`]),
)
