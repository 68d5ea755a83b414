// Holds every answer that a test sees against the OpenAPI document of the node that gave it: status, headers, media
// type and error kind must be there for that operation.

/** What is looked at of one exchange. */
export interface Observed {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly json: unknown
}

interface DocumentResponse {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, unknown>> }>>
}

interface DocumentOperation {
  readonly responses: Readonly<Record<string, DocumentResponse>>
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
}

/** Headers of HTTP itself, which the document leaves out. */
const transport = new Set(['date', 'connection', 'keep-alive', 'content-length', 'content-type', 'transfer-encoding'])

/** What is wrong with `observed` by the document, or undefined. Paths and methods that it does not have pass. */
export function undocumented(document: OpenApiDocument, observed: Observed): string | undefined {
  const method = observed.method === 'HEAD' ? 'get' : observed.method.toLowerCase()
  const path = observed.path.split('?')[0] ?? ''
  const [template, operation] = operationOf(document, method, path) ?? []
  if (operation === undefined) return undefined
  const where = `${method.toUpperCase()} ${template} ${observed.status}`
  const response = operation.responses[String(observed.status)]
  if (response === undefined) return `${where} is not in the OpenAPI document`
  const header = Object.keys(observed.headers).find(
    (name) => !transport.has(name) && !(name in (response.headers ?? {})),
  )
  if (header !== undefined) return `the header ${header} of ${where} is not in the OpenAPI document`
  const declared = observed.headers['content-type']
  const type = typeof declared === 'string' ? (declared.split(';')[0] ?? '') : ''
  const media = response.content?.[type]
  if (type !== '' && observed.status !== 304 && media === undefined)
    return `the media type ${type} of ${where} is not in the OpenAPI document`
  const kind = kindOf(observed.json)
  if (observed.status >= 400 && kind !== undefined && !(kind in (media?.examples ?? {})))
    return `the kind ${kind} of ${where} is not in the OpenAPI document`
  return undefined
}

/** The operation with the fewest variable parts that takes the path. */
function operationOf(
  document: OpenApiDocument,
  method: string,
  path: string,
): readonly [string, DocumentOperation] | undefined {
  const matching = Object.entries(document.paths).filter(([template]) => patternOf(template).test(path))
  const [nearest] = matching.sort(([a], [b]) => a.split('{').length - b.split('{').length)
  const operation = nearest?.[1][method]
  return nearest === undefined || operation === undefined ? undefined : [nearest[0], operation]
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

function kindOf(body: unknown): string | undefined {
  const error: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'error') : undefined
  return typeof error === 'object' && error !== null ? String(Reflect.get(error, 'kind')) : undefined
}
