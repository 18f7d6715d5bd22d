import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { askedWords } from '../completion/asked-words.ts'

/** `rouse complete -- sub show …`: what the scripts of `rouse completion` run. It prints a word in each line, and never fails. */
export function registerComplete(program: Command, io: Io): void {
  program
    .command('complete [words...]', { hidden: true })
    .description('print the words that may end a command line')
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const found = await askedWords(program, words, io)
      io.stdout(found.map((word) => `${word}\n`).join(''))
    })
}
