// What the options and the environment say of a store in a bucket: read, and held against each other.

import {
  type Environment,
  invalidOption,
  type OptionGroup,
  type OptionRow,
  type OptionValues,
  originOption,
  schemeOf,
} from '../../node/options.ts'

const rows: readonly OptionRow[] = [
  {
    name: 's3-endpoint',
    type: 'text',
    text: "address of the bucket's service, such as https://host:9000 (default: the address of AWS or Google)",
  },
  { name: 's3-region', type: 'text', text: 'region of the bucket (default: AWS_REGION, else us-east-1)' },
  {
    name: 's3-path-style',
    type: 'boolean',
    text: 'name the bucket in the path, not in the host (default: true with --s3-endpoint)',
  },
  {
    name: 's3-condition',
    type: 'text',
    default: 'aws',
    values: ['aws', 'gcs'],
    text: "header for writing only new objects: If-None-Match (aws), or Google's x-goog-if-generation-match (gcs)",
  },
]

/** A bucket, how to reach it and what it can do. */
export interface BucketConfig {
  /** As it was named: `s3://bucket/prefix`. */
  readonly url: string
  readonly bucket: string
  /** Begins every key; without slashes at its ends, empty for the whole bucket. */
  readonly prefix: string
  readonly endpoint: URL
  readonly region: string
  readonly pathStyle: boolean
  readonly condition: 'aws' | 'gcs'
}

const scheme = 's3'

export const bucketOptions: OptionGroup<BucketConfig> = {
  name: 's3',
  rows,
  schemes: [scheme],
  needs: 'a store in a bucket: --store s3://bucket/prefix',
  read: (values, environment) => {
    const store = values.get('store') as string | undefined // text by its row
    return schemeOf(store) === scheme ? bucketConfig(values, environment) : undefined
  },
}

function bucketConfig(values: OptionValues, environment: Environment): BucketConfig {
  // parseValue has given each option the type that its row names.
  const text = (name: string): string | undefined => values.get(name) as string | undefined
  const url = text('store') ?? ''
  const [bucket = '', ...rest] = url.slice(`${scheme}://`.length).replace(/\/$/, '').split('/')
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(bucket)) {
    const expected = "of 3 to 63 small letters, digits, '.', '_' and '-', with a letter or digit at both ends"
    throw invalidOption(`Option 'store' is '${url}', whose bucket is '${bucket}'; expected one ${expected}.`)
  }
  const part = rest.find((one) => !/^\w[\w.-]*$/.test(one))
  if (part !== undefined) {
    const expected = "words of letters, digits, '.', '_' and '-', joined by single slashes"
    throw invalidOption(`Option 'store' is '${url}', whose prefix has the part '${part}'; expected ${expected}.`)
  }
  const condition = text('s3-condition') === 'gcs' ? 'gcs' : 'aws'
  const region =
    text('s3-region') ??
    environment['AWS_REGION'] ??
    environment['AWS_DEFAULT_REGION'] ??
    (condition === 'gcs' ? 'auto' : 'us-east-1')
  const given = text('s3-endpoint')
  const ofRegion = `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const endpoint = originOption(
    's3-endpoint',
    given ?? (condition === 'gcs' ? 'https://storage.googleapis.com' : ofRegion),
  )
  return {
    url,
    bucket,
    prefix: rest.join('/'),
    endpoint,
    region,
    // A certificate for *.host does not cover a bucket's name with dots.
    pathStyle: (values.get('s3-path-style') as boolean | undefined) ?? (given !== undefined || bucket.includes('.')), // boolean by its row
    condition,
  }
}
