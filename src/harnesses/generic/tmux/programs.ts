import { harnesses } from '../../harnesses.ts'
import type { Screen } from '../../screen.ts'

/** A program that may be typed into. */
export interface Program extends Screen {
  readonly title: string
}

/** The programs whose screens were described, by the names that the configuration has for them. */
const programs: ReadonlyMap<string, Program> = new Map(
  harnesses.flatMap(({ id, title, screen }) => (screen ? [[id, { title, ...screen }]] : [])),
)
export const programNames: readonly string[] = [...programs.keys()]

/** Returns the program of a name in `programNames`. */
export function programOf(name: string): Program {
  const program = programs.get(name)
  if (program === undefined) throw new Error(`No screen of ${name} was described.`)
  return program
}
