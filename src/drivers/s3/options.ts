// What the options and the environment say of a store in a bucket: read, and held against each other.

import { type Environment, invalidOption, oneOf, originOf, readOptionUrl, type UrlOptions } from '../../node/options.ts'

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

const form = {
  option: 'store',
  expected: "s3://bucket/prefix or 's3://bucket/prefix?endpoint=https://host:9000'",
  parameters: ['endpoint', 'region', 'path-style', 'condition'],
} as const

export const bucketOptions: UrlOptions<BucketConfig> = {
  name: 's3',
  text: "or a bucket, 's3://bucket/prefix?endpoint=https://host:9000'. Without an endpoint it is one of AWS. Other parameters are region=<word> (AWS_REGION without it, else us-east-1) and path-style=<true or false> (the bucket is in the path, not in the host, as with an endpoint). A bucket of Google takes condition=gcs (new objects are written with the header x-goog-if-generation-match, not If-None-Match)",
  read: bucketConfig,
}

function bucketConfig(url: string, environment: Environment): BucketConfig {
  const { user, hosts, path, parameters } = readOptionUrl(url, form)
  if (user !== undefined) {
    throw invalidOption(
      "Option 'store' has a user in its URL. Keys of a bucket are read where AWS's own programs find them.",
    )
  }
  const bucket = hosts.map(({ text }) => text).join(',')
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(bucket)) {
    const expected = "of 3 to 63 small letters, digits, '.', '_' and '-', with a letter or digit at both ends"
    throw invalidOption(`Option 'store' names the bucket '${bucket}'; expected one ${expected}.`)
  }
  const part = (path === '' ? [] : path.split('/')).find((one) => !/^\w[\w.-]*$/.test(one))
  if (part !== undefined) {
    const expected = "words of letters, digits, '.', '_' and '-', joined by single slashes"
    throw invalidOption(`Option 'store' has a prefix with the part '${part}'; expected ${expected}.`)
  }
  const condition = oneOf(form.option, 'condition', parameters.condition ?? 'aws', ['aws', 'gcs'])
  const region =
    parameters.region ??
    environment['AWS_REGION'] ??
    environment['AWS_DEFAULT_REGION'] ??
    (condition === 'gcs' ? 'auto' : 'us-east-1')
  const ofRegion = `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const endpoint = originOf(parameters.endpoint ?? (condition === 'gcs' ? 'https://storage.googleapis.com' : ofRegion))
  if (endpoint === undefined) {
    throw invalidOption("Option 'store' has an endpoint or a region of no host; expected endpoint=https://host:9000.")
  }
  // A certificate for *.host does not cover a bucket's name with dots.
  const usualStyle = String(parameters.endpoint !== undefined || bucket.includes('.'))
  const style = oneOf(form.option, 'path-style', parameters['path-style'] ?? usualStyle, ['true', 'false'])
  return { url, bucket, prefix: path, endpoint, region, pathStyle: style === 'true', condition }
}
