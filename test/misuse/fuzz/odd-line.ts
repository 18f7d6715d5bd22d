import { type Dice, hostileValues } from './hostile-values.ts'

/** A hostile value as the text of a header. */
export function oddLine(dice: Dice): string {
  const value = dice.pick(hostileValues)()
  return String(typeof value === 'object' ? JSON.stringify(value) : value)
    .replace(/[^\x20-\x7e\x80-\xff]/g, '?')
    .slice(0, 500)
}
