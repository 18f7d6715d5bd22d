import { readFileSync, statSync } from 'node:fs'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { bodyCeiling } from '../../limits.ts'

/** The most that any gateway takes in one message. One that takes less says so itself. */
const bytesMax = bodyCeiling

interface TextSource {
  /** The words on the command line; `-` alone is standard input. */
  readonly words?: readonly string[]
  /** A file; `-` is standard input. */
  readonly file?: string | undefined
  /** The option or argument that names the file, for messages. */
  readonly option?: string
}

/** A text from the command line, standard input or a file; undefined without any. Errors: two sources; what cannot be read. */
export function readText(io: Io, { words = [], file, option = '--file' }: TextSource): string | undefined {
  if (file !== undefined) {
    if (words.length > 0) throw new UsageError('Give the text on the command line or with --file, not both.')
    return file === '-' ? fromStdin(io) : fromFile(file, option)
  }
  if (words.length === 0) return undefined
  return words.length === 1 && words[0] === '-' ? fromStdin(io) : words.join(' ')
}

/** A text that has to be there. */
export function requireText(io: Io, source: TextSource): string {
  const text = readText(io, source)
  if (text === undefined) throw new UsageError('Give a text, - for standard input, or --file <file>.')
  if (text.trim() === '') throw new UsageError('The text is empty.')
  return text
}

/** The value of an option that holds a text: `-` is standard input. */
export function optionText(io: Io, value: string | undefined, file: string | undefined): string | undefined {
  return readText(io, { words: value === undefined ? [] : [value], file })
}

function fromStdin(io: Io): string {
  const text = io.stdin?.() ?? ''
  if (text.trim() === '') throw new UsageError('Standard input is empty.')
  return bounded(text, 'Standard input')
}

function fromFile(path: string, option: string): string {
  try {
    // The size first: a wrong path must not fill the memory.
    if (statSync(path).size > bytesMax) throw tooLarge(path)
    return bounded(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)), path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (error instanceof TypeError) throw new UsageError(`${option}: ${path} is not text in UTF-8.`, { cause: error })
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${option}: ${path} cannot be read (${code}).`, { cause: error })
  }
}

/** A text without the line break that ends every file. */
function bounded(text: string, from: string): string {
  if (Buffer.byteLength(text) > bytesMax) throw tooLarge(from)
  return text.replace(/\r?\n$/, '')
}

function tooLarge(from: string): UsageError {
  return new UsageError(`${from} is larger than the ${bytesMax / 2 ** 20} MiB that a gateway takes.`)
}
