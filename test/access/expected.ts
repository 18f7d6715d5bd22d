import type { Operation } from '../../src/fronts/access/operation.ts'
import type { RestCase } from './rest-requests.ts'
import { isAllOfDonna, strangers, type Who } from './world.ts'

export type Expected = 'ok' | 'unauthenticated' | 'forbidden' | 'hidden'

/** The rule of the table. `hidden` is refused where the row is read, as forbidden or as not found. */
export function expected(row: Operation, who: Who, { atHome }: Pick<RestCase, 'atHome'>): Expected {
  if (strangers.includes(who)) return 'unauthenticated'
  if (row.scope === 'approve') return who === 'anna' ? 'ok' : 'forbidden'
  if (who === 'operator') return row.operator === 'never' ? 'forbidden' : row.operator === 'own' ? 'hidden' : 'ok'
  if (who === 'anna') return expectedOfOperator(row, 'manager', atHome)
  if (who === 'viewer' || who === 'manager' || who === 'manager elsewhere') return expectedOfOperator(row, who, atHome)
  if (row.agent === 'never') return 'forbidden'
  if (row.scope === 'any') return revokes(row, who) || atHome ? 'ok' : 'hidden'
  if (who.startsWith('donna')) {
    const isEnough = who === `donna, ${row.scope} only` && row.also === undefined
    return isAllOfDonna(who) || isEnough ? 'ok' : 'forbidden'
  }
  const reach = who === 'zoe' ? row.peer : row.agent
  if (atHome || reach === 'project' || reach === 'contacts') return 'ok'
  return reach === 'granted' && who === 'gina' ? 'ok' : 'hidden'
}

function expectedOfOperator(row: Operation, who: 'viewer' | 'manager' | 'manager elsewhere', atHome?: true): Expected {
  if (row.operator === 'admin' || row.operator === 'never') return 'forbidden'
  if (who === 'viewer' && row.scope !== 'any' && row.scope !== 'read') return 'forbidden'
  if (who === 'viewer' && row.scope === 'read') return 'ok'
  if (who === 'manager') return row.operator === 'own' ? 'hidden' : 'ok'
  return atHome ? 'ok' : 'hidden'
}

/** A key or a token of donna's, which is not the one that asks. */
const revokes = ({ name }: Operation, who: Who): boolean =>
  isAllOfDonna(who) || who === (name === 'token.revoke' ? 'donna, manage only' : 'donna, mint only')
