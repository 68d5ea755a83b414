// Server-sent events as the HTML standard reads them (https://html.spec.whatwg.org/multipage/server-sent-events.html,
// §9.2.6), from text in pieces of any size.

/** What a blank line ends: an event, or an id alone, whose `data` is then empty. */
export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string
  /** The last event id as of this one. */
  readonly id: string
  readonly data: string
}

/** Characters of one event; a stream whose event has more is none. */
const longestEvent = 64 * 1024 * 1024

export class EventReader {
  #rest = ''
  #event = ''
  #id = ''
  #data: string[] = []
  #characters = 0
  #state: 'empty' | 'begun' = 'empty'

  #take(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#addData(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else return
    this.#state = 'begun'
  }

  #addData(value: string): void {
    this.#data.push(value)
    this.#characters += value.length + 1
  }

  /** What `text`, the next piece of the stream, completes. Throws RangeError for an event that does not end. */
  *read(text: string): Generator<ServerSentEvent> {
    if (this.#rest.length + this.#characters + text.length > longestEvent) throw new RangeError('an event has no end')
    // A carriage return at the end may be half of a line end.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') this.#take(line)
      else if (this.#state === 'begun') yield this.#end()
    }
  }

  #end(): ServerSentEvent {
    const ended = { event: this.#event || 'message', id: this.#id, data: this.#data.join('\n') }
    this.#event = ''
    this.#data = []
    this.#characters = 0
    this.#state = 'empty'
    return ended
  }
}
