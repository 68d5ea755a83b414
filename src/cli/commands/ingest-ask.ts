// What `ingest` asks where it is in doubt how a file is read: the node judges the file without storing it, the ways that it names are
// shown, one is chosen, and so on until nothing is in doubt.

import type { JsonValue } from '../../index.ts'
import { received } from '../../libraries/formats/event-time.ts'
import { parameterRows } from '../../libraries/formats/parameters.ts'
import { flagsText } from '../../libraries/formats/flags.ts'
import { choiceLines, choicesOf } from '../choices.ts'
import { type Choice, CommandFailure, exitCodes, note, type Parameters, printFailure } from '../failure.ts'
import { ask } from '../question.ts'
import { columnLines } from '../receipt-text.ts'

/** A file of which it may be in doubt how it is read. */
export interface Doubtful {
  readonly label: string
  /** Takes the only way, and asks nothing. */
  readonly yes: boolean
  /** It may be sent once more only to show its columns. */
  readonly isSmall: boolean
  /** What the node says of it under these parameters too, without storing it. Throws CommandFailure. */
  readonly judge: (parameters: Parameters) => Promise<JsonValue>
  /** Tells what an answer warns of. */
  readonly tell: (answer: JsonValue) => void
}

/** An answer, or a refusal with ways to settle it. */
type Verdict = JsonValue | CommandFailure

/** The node's verdict under these parameters too. Throws CommandFailure for a refusal that names no way. */
export async function verdictOn({ judge }: Doubtful, parameters: Parameters): Promise<Verdict> {
  try {
    return await judge(parameters)
  } catch (error) {
    if (error instanceof CommandFailure && choicesIn(error).length > 0) return error
    throw error
  }
}

/** Parameters under which nothing is in doubt; none where nothing was. Throws CommandFailure (refused) where no way is taken. */
export async function settle(file: Doubtful, first: Verdict): Promise<Parameters> {
  let settled: Settled = { parameters: {}, verdict: first }
  for (let choices = choicesIn(first); choices.length > 0; choices = choicesIn(settled.verdict)) {
    const isFirst = settled.verdict === first
    const choice = file.yes ? onlyOne(file, settled.verdict, isFirst) : await chosen(file, settled, isFirst)
    if (choice === undefined) return settled.parameters
    settled = await filledIn(file, settled.parameters, choice)
  }
  if (settled.verdict !== first && !file.yes) {
    showAnswer(file, settled.verdict)
    await typed(file, 'Store it so? [Y/n] ', /^(?:y(?:es)?)?$/i)
  }
  return settled.parameters
}

interface Settled {
  readonly parameters: Parameters
  readonly verdict: Verdict
}

function choicesIn(verdict: Verdict): readonly Choice[] {
  return verdict instanceof CommandFailure ? (verdict.details.choices ?? []) : choicesOf(verdict)
}

function isFilled({ parameters }: Choice): boolean {
  return !Object.values(parameters).includes('')
}

/** The only way, once. Throws CommandFailure (refused) where there are more, or something is to be filled in. */
function onlyOne({ label }: Doubtful, verdict: Verdict, isFirst: boolean): Choice {
  const [only, ...more] = choicesIn(verdict)
  if (only !== undefined && more.length === 0 && isFilled(only) && isFirst) {
    note(`${label} is read with ${flagsText(only.parameters)}`)
    return only
  }
  if (verdict instanceof CommandFailure) throw verdict
  throw new CommandFailure(exitCodes.refused, `${label} can be read in more than one way. Nothing of it was stored.`, {
    facts: choiceLines(choicesIn(verdict)),
    hint: 'Add the flags of one of them.',
  })
}

/** The way that a person chooses; undefined: as it is. What comes of an only one is shown first, and asked for then. */
async function chosen(file: Doubtful, { parameters, verdict }: Settled, isFirst: boolean): Promise<Choice | undefined> {
  const choices = choicesIn(verdict)
  if (verdict instanceof CommandFailure) {
    // With the time of arrival, columns are as they were read before it was asked which of them is the time.
    const arrival = choices.find((one) => one.parameters['eventTime'] === received)
    if (arrival !== undefined && file.isSmall)
      showColumns(await verdictOn(file, { ...parameters, ...arrival.parameters }))
    printFailure(verdict)
    if (choices.length === 1 && isFirst) return choices[0]
  } else {
    showAnswer(file, verdict)
    for (const line of [...choiceLines(choices), `${choices.length + 1}) as in the table`]) note(line)
  }
  const most = choices.length + (verdict instanceof CommandFailure ? 0 : 1)
  const numbers = Array.from({ length: most }, (_, at) => at + 1).join('|')
  const text = await typed(file, `Which of 1 to ${most} (n: none)? `, RegExp(`^(?:${numbers})$`))
  return choices[Number(text) - 1]
}

/** The parameters with those of a choice, what is empty among them typed until the node takes it. */
async function filledIn(file: Doubtful, before: Parameters, choice: Choice): Promise<Settled> {
  for (;;) {
    const parameters: Record<string, string | readonly string[]> = { ...before, ...choice.parameters }
    for (const [name, value] of Object.entries(choice.parameters)) {
      if (value !== '') continue
      const about = parameterRows.find(([one]) => one === name)?.[1].about ?? name
      parameters[name] = await typed(file, `${about}: `, /./)
    }
    try {
      return { parameters, verdict: await verdictOn(file, parameters) }
    } catch (error) {
      const isWrong = error instanceof CommandFailure && error.details.kind?.startsWith('400 ') === true
      if (!isWrong || isFilled(choice)) throw error
      printFailure(error)
    }
  }
}

/** What a person types, once it is as it must be. Throws CommandFailure (refused) at a no, and at the end of input. */
async function typed({ label }: Doubtful, question: string, form: RegExp): Promise<string> {
  for (;;) {
    const text = await ask(question)
    if (text === undefined || /^no?$/i.test(text)) {
      throw new CommandFailure(exitCodes.refused, `Nothing of ${label} was stored.`)
    }
    if (form.test(text)) return text
  }
}

function showAnswer(file: Doubtful, answer: Verdict): void {
  showColumns(answer)
  if (!(answer instanceof CommandFailure)) file.tell(answer)
}

function showColumns(answer: Verdict): void {
  if (answer instanceof CommandFailure) return
  for (const line of columnLines(answer, process.stderr.columns)) note(line)
}
