// What another machine answers, read no further than it may be: bytes as they are after decompression, and values of JSON
// before they are made. All that is read from outside is read through here.

/** The body is longer than it may be; what follows of it is not read. */
export class BodyTooLong extends Error {
  override readonly name: string = 'BodyTooLong'
}

const reader = (body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> => ({
  // Not every browser iterates a stream.
  async *[Symbol.asyncIterator]() {
    const from = body.getReader()
    try {
      for (let piece = await from.read(); !piece.done; piece = await from.read()) yield piece.value
    } finally {
      await from.cancel().catch(() => {})
    }
  },
})

/** The pieces of a body of at most `mostBytes`. Throws BodyTooLong, and what reading throws. */
export async function* boundedPieces(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  if (body === null) return
  let have = 0
  for await (const piece of body instanceof ReadableStream ? reader(body) : body) {
    have += piece.length
    if (have > mostBytes) throw new BodyTooLong(`it has more than ${mostBytes} bytes`)
    yield piece
  }
}

/** The text of an answer over fetch, of at most `mostBytes` in UTF-8. Throws as `boundedPieces`. */
export async function boundedText(answer: Response, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of boundedPieces(answer.body, mostBytes)) text += decoder.decode(piece, { stream: true })
  return text + decoder.decode()
}

/** The value of a JSON text of at most `mostValues` values, or so. Throws BodyTooLong, SyntaxError. */
export function boundedJson(text: string, mostValues: number): unknown {
  let values = 0
  // Each value but the first comes after one of these; within strings they count too.
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if ((code === comma || code === colon || code === bracket || code === brace) && ++values > mostValues) {
      throw new BodyTooLong(`it has more than ${mostValues} values`)
    }
  }
  return JSON.parse(text)
}

const comma = 0x2c
const colon = 0x3a
const bracket = 0x5b
const brace = 0x7b
