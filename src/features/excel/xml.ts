// The XML of a workbook as events, bounded. The door to sax. What a workbook has no use for and attackers have is refused:
// document types with their entities, deep nesting, long tags.

import xml, { type SAXOptions, type SAXParser } from 'sax'
import type { NodeError } from '../../libraries/base/errors.ts'
import { malformed } from './faults.ts'

export type Attributes = Readonly<Record<string, string>>

/** Takes the events. Names are without the prefix of their namespace, those of attributes with it. */
export interface XmlHandler {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  /** A text, or a part of one. */
  text(text: string): void
}

const deepest = 64
const mostAttributes = 256
/** A cell has at most 32,767 characters in the programs that write them. */
export const longestText = 1024 * 1024
/** Of references those of XML alone are known. */
const options = { strictEntities: true } as SAXOptions // its types do not have it

export class XmlReader {
  readonly #file: string
  readonly #parser: SAXParser
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  /** Of the file of that name in the zip. */
  constructor(file: string, handler: XmlHandler) {
    const sax = xml.parser(true, options)
    let depth = 0
    let count = 0
    sax.onattribute = () => {
      count += 1
      if (count > mostAttributes) throw this.fault(`a tag has more than ${mostAttributes} attributes.`)
    }
    sax.onopentag = ({ name, attributes }) => {
      depth += 1
      count = 0
      if (depth > deepest) throw this.fault(`its tags are nested deeper than ${deepest} levels.`)
      handler.open(localName(name), attributes as Attributes) // xmlns is off
    }
    sax.onclosetag = (name) => {
      depth -= 1
      handler.close(localName(name))
    }
    sax.ontext = (text) => handler.text(text)
    sax.oncdata = (text) => handler.text(text)
    sax.ondoctype = () => {
      throw this.fault('it has a document type, which workbooks have not.')
    }
    sax.onerror = ({ message }) => {
      throw this.fault(`it is no XML: ${message.split('\n', 1)[0] ?? ''}`)
    }
    this.#file = file
    this.#parser = sax
  }

  /** The next bytes. Throws NodeError `MalformedBody`, and what the handler throws. */
  push(chunk: Uint8Array): void {
    this.#parser.write(this.#decoded(chunk))
  }

  /** The end of the file. Throws NodeError `MalformedBody`. */
  finish(): void {
    this.#parser.write(this.#decoded()).close()
  }

  fault(what: string): NodeError {
    return malformed(this.#file, what)
  }

  #decoded(chunk?: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw this.fault('it is not UTF-8.')
    }
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** A switch of XML Schema. */
export function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}

/**
 * A text of a workbook without its escapes, `_x0007_`, for characters that XML does not have; undefined where it has half a
 * character. Source: ISO/IEC 29500-1 §22.9.2.19
 */
export function unescaped(text: string): string | undefined {
  const resolved = text.includes('_x')
    ? text.replaceAll(/_x([0-9A-F]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
  return /\p{Cs}/u.test(resolved) ? undefined : resolved
}
