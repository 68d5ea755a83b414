// A listener of server-sent events, read as the HTML standard says (§9.2.6), over the platform's fetch.

/** What was dispatched, or a comment. */
export interface Received {
  /** `message` where the stream names none; `comment`; `place` for an id without data. */
  readonly event: string
  /** Last event id as of this event. */
  readonly id: string
  readonly text: string
  /** The data as JSON; undefined where there is none. */
  readonly data: Readonly<Record<string, unknown>> | undefined
}

export interface EventListener {
  readonly response: Response
  /** The next that comes; undefined at the end. */
  next(): Promise<Received | undefined>
  /** The next block events, so many. */
  blocks(count: number): Promise<readonly Received[]>
  cut(): void
}

/** Opens a stream. With an answer that is none, `next` gives undefined at once. */
export async function listen(
  url: string,
  { token, lastEventId }: { readonly token?: string | undefined; readonly lastEventId?: string | undefined } = {},
): Promise<EventListener> {
  const cut = new AbortController()
  const headers = {
    accept: 'text/event-stream',
    'accept-encoding': 'br, gzip',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const response = await fetch(url, { headers, signal: cut.signal })
  const events = received(response)
  const next = async (): Promise<Received | undefined> => (await events.next()).value ?? undefined
  return {
    response,
    next,
    async blocks(count) {
      const found: Received[] = []
      while (found.length < count) {
        const one = await next()
        if (one === undefined || one.event === 'end') {
          throw new Error(`the stream (${response.status}) ended: ${one?.text ?? ''}`)
        }
        if (one.event === 'message') found.push(one)
      }
      return found
    },
    cut: () => cut.abort(),
  }
}

async function* received(response: Response): AsyncGenerator<Received, undefined> {
  if (response.status !== 200 || response.body === null) return
  let id = ''
  let event = ''
  let data: string[] = []
  let isPlace = false
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of response.body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          const text = data.join('\n')
          if (data.length > 0) yield { event: event || 'message', id, text, data: JSON.parse(text) }
          else if (isPlace) yield { event: 'place', id, text: '', data: undefined }
          event = ''
          data = []
          isPlace = false
          continue
        }
        if (line.startsWith(':')) {
          yield { event: 'comment', id, text: line, data: undefined }
          continue
        }
        const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
        if (name === 'id') {
          id = value
          isPlace = true
        } else if (name === 'event') event = value
        else if (name === 'data') data.push(value)
      }
    }
  } catch {
    return
  }
}
