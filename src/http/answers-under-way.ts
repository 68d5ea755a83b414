// Answers on their way: their bytes are counted from when the engine hands them over until the connection has taken
// them, so that clients who do not read cannot fill the memory of the node.

import { type Limits, limitTable } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import type { Caller } from '../replica/pin.ts'

/** An answer of up to so many bytes needs room in the node, not in its caller's share: a connection holds as much. */
export const smallAnswerBytes = 64 * 1024

/** Room for one request's answer, from which it is freed when the request is over. */
export type OpenRoom = Caller['room'] & {
  /** Idempotent. */
  close(): void
}

export class AnswersUnderWay {
  readonly #limits: Pick<Limits, 'answerBytes' | 'callerAnswerShare'>
  readonly #heldBy = new Map<string, number>()
  #heldBytes = 0

  constructor(limits: Pick<Limits, 'answerBytes' | 'callerAnswerShare'>) {
    this.#limits = limits
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Room for an answer to `caller`. Its `take` throws NodeError `Saturated`; an answer that is alone, or the only one of
   * its caller where the node has room, may have any size.
   */
  open(caller: string): OpenRoom {
    let own = 0
    let isOpen = true
    const change = (bytes: number): void => {
      own += bytes
      this.#heldBytes += bytes
      const held = (this.#heldBy.get(caller) ?? 0) + bytes
      if (held === 0) this.#heldBy.delete(caller)
      else this.#heldBy.set(caller, held)
    }
    return {
      take: (bytes) => {
        // Whoever has left gets nothing.
        if (!isOpen) return
        this.#check(caller, bytes)
        change(bytes)
      },
      close: () => {
        isOpen = false
        change(-own)
      },
    }
  }

  #check(caller: string, bytes: number): void {
    const { answerBytes, callerAnswerShare } = this.#limits
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > answerBytes) throw this.#refusal('answerBytes')
    const held = this.#heldBy.get(caller) ?? 0
    if (bytes <= smallAnswerBytes || held === 0) return
    if (held + bytes > (answerBytes * callerAnswerShare) / 100) throw this.#refusal('callerAnswerShare')
  }

  #refusal(name: 'answerBytes' | 'callerAnswerShare'): NodeError {
    return new NodeError('Saturated', messages[name], {
      hint: 'Read the answers that are on their way, or ask for fewer rows.',
      limit: { name, value: this.#limits[name], unit: limitTable[name].unit },
      retryAfterSeconds: 1,
    })
  }
}

const messages = {
  answerBytes: 'The node has as many answers on their way as it can hold.',
  callerAnswerShare: 'This caller has as many answers on their way as its share allows.',
} as const
