import { Problem } from '../../errors.ts'

/** The problem of a request of which not everything arrived, or whose path cannot be decoded. */
export const unreadable = (): Problem => new Problem('invalid-request', { detail: 'The request could not be read.' })
