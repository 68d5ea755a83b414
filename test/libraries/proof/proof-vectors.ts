// The proofs of a live node and its answers to /verify.

import { readFileSync } from 'node:fs'

export interface ProofVector {
  name: string
  seedHex: string
  did: string
  responseBodyBytes: string
  inputCanonical: string
  outputCanonical: string
  inputHash: string
  outputHash: string
  subQueriesHash: string
  commitmentCanonical: string
  proofValue: string
}

export interface VerifyVector {
  name: string
  requestBody: string
  status: number
  responseBody: string
}

const rows: (ProofVector | (VerifyVector & { kind: 'verify' }))[] = JSON.parse(
  readFileSync('test/vectors/proofs.json', 'utf8'),
)

export const proofVectors = rows.filter((row): row is ProofVector => !('kind' in row))
export const verifyVectors = rows.filter((row): row is VerifyVector & { kind: 'verify' } => 'kind' in row)
