// What Amazon calls the parts of a signature, for which it publishes examples.

import type { SignatureNames } from '../../src/drivers/s3/google.ts'

export const amazonNames: SignatureNames = { scheme: 'AWS4', header: 'x-amz-', service: 's3', end: 'aws4_request' }
