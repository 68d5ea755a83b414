// The signed answer that the OpenAPI document shows.

import { routeTexts } from '../../src/node/http/texts.ts'

interface ProvenAnswer {
  readonly commitment: Readonly<Record<'inputHash' | 'outputHash' | 'subQueriesHash', string>>
  readonly input: Readonly<Record<string, unknown>>
  readonly output: Readonly<Record<string, unknown>>
  readonly proof: { readonly proofValue: string }
}

export const provenAnswer = routeTexts.operations['post /query']?.answers['200']?.example as ProvenAnswer
