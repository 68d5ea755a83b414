// The token of this tab, and requests to the node with it: pasted once, kept until the tab is closed, never in a cookie or
// an address.

const key = 'proofstream-token'

export function heldToken(): string | undefined {
  return sessionStorage.getItem(key) ?? undefined
}

export function holdToken(token: string): void {
  sessionStorage.setItem(key, token)
}

export function forgetToken(): void {
  sessionStorage.removeItem(key)
}

/** Says at the top of the page whether a token is held. */
export function showSession(): void {
  const session = document.querySelector<HTMLDetailsElement>('.session')
  if (session === null) return
  session.hidden = false
  session.classList.toggle('held', heldToken() !== undefined)
  const summary = session.querySelector('summary')
  if (summary !== null) summary.textContent = heldToken() === undefined ? 'Token' : 'Token held'
}

/** What came back: `{}` where that is no JSON or nothing came. */
export interface Written {
  readonly ok: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends a change with the token, its body as JSON. */
export async function askWrite(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  { body, ifMatch }: { readonly body?: object; readonly ifMatch?: string } = {},
): Promise<Written> {
  const headers = {
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return await ask(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
}

/** Asks for JSON with the token. */
export async function askRead(path: string): Promise<Written> {
  return await ask(path, { headers: { accept: 'application/json' } })
}

async function ask(
  path: string,
  { headers, ...init }: { headers: Readonly<Record<string, string>>; method?: string; body?: string | null },
): Promise<Written> {
  try {
    const authorization = `Bearer ${heldToken() ?? ''}`
    const answer = await fetch(path, { ...init, headers: { authorization, ...headers } })
    const text = await answer.text()
    return { ok: answer.ok, body: text === '' ? {} : Object(JSON.parse(text)) }
  } catch {
    return { ok: false, body: {} }
  }
}

/** What a problem says, with what to do about it. */
export function problemText({ body }: Written): string {
  const { detail = 'The node does not answer.', hint = '' } = body
  return [detail, hint].filter((text) => typeof text === 'string').join(' ')
}
