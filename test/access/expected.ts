import type { Operation } from '../../src/fronts/access/operation.ts'
import type { RestCase } from './rest-requests.ts'
import type { Who } from './world.ts'

export type Expected = 'ok' | 'unauthenticated' | 'forbidden' | 'hidden'

/** The rule of the table. `hidden` is refused where the row is read, as forbidden or as not found. */
export function expected(row: Operation, who: Who, { atHome }: RestCase): Expected {
  if (['nobody', 'unknown key', 'revoked key', 'expired key'].includes(who)) return 'unauthenticated'
  if (who === 'operator') return row.operator === 'never' ? 'forbidden' : row.operator === 'own' ? 'hidden' : 'ok'
  if (who === 'viewer' || who === 'manager elsewhere') return expectedOfOperator(row, who, atHome)
  if (row.agent === 'never') return 'forbidden'
  if (row.scope === 'any') return revokes(who) || atHome ? 'ok' : 'hidden'
  if (who.startsWith('donna')) return who === 'donna' || who === `donna, ${row.scope} only` ? 'ok' : 'forbidden'
  const reach = who === 'zoe' ? row.peer : row.agent
  if (atHome || reach === 'project' || reach === 'contacts') return 'ok'
  return reach === 'granted' && who === 'gina' ? 'ok' : 'hidden'
}

function expectedOfOperator(row: Operation, who: 'viewer' | 'manager elsewhere', atHome?: true): Expected {
  if (row.operator === 'admin' || row.operator === 'never') return 'forbidden'
  if (who === 'viewer' && row.scope !== 'any' && row.scope !== 'read') return 'forbidden'
  if (who === 'viewer' && row.scope === 'read') return 'ok'
  return atHome ? 'ok' : 'hidden'
}

/** A key of donna's, which is not the one that asks. */
const revokes = (who: Who): boolean => who === 'donna' || who === 'donna, mint only'
