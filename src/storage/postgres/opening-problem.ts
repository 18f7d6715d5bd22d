import { Problem } from '../../errors.ts'
import { storageProblem } from './storage-problem.ts'
import { poolerRemedy } from './transaction-pooler.ts'

/** The remedies of the operator for an error at the start: by the code of PostgreSQL or of the system, or by the words of the driver. */
const remedies: readonly (readonly [error: RegExp, remedy: string])[] = [
  [/^(ECONNREFUSED|57P03)$/, 'Start PostgreSQL there, or correct the host and the port in ROUSE_DATABASE_URL.'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'Correct the host name in ROUSE_DATABASE_URL, or the name servers of this machine.'],
  [/^(ENOENT|EACCES)$/, 'Correct the file in ROUSE_DATABASE_URL, or who may read it.'],
  [/^(28|.*SASL:)/, 'Correct the user and the password in ROUSE_DATABASE_URL, or who may connect (pg_hba.conf).'],
  [
    /^3D000$/,
    'Create it (createdb --encoding UTF8 --template template0 …), or correct its name in ROUSE_DATABASE_URL.',
  ],
  [/^42501$/, 'Grant that to the user of ROUSE_DATABASE_URL: it owns its tables (grant create on schema public to …).'],
  [/^25006$/, 'Give the address of the primary in ROUSE_DATABASE_URL: a standby takes no writes.'],
  [/^53300$/, 'Raise max_connections of PostgreSQL: a gateway has up to 12 connections.'],
  [/startup parameter/, poolerRemedy],
  [/does not support SSL/, 'Turn on TLS in PostgreSQL, or take sslmode out of ROUSE_DATABASE_URL.'],
  [
    /^[A-Z_]*CERT|^ERR_(TLS|SSL)|^UNABLE_TO/,
    'Correct sslmode and sslrootcert in ROUSE_DATABASE_URL, or the certificate of PostgreSQL.',
  ],
]

/** The operator reads this at the start. The URL may contain a password and is not repeated; the driver does not repeat it either. */
export function openingProblem(error: unknown): unknown {
  if (!(storageProblem(error) instanceof Problem)) return error
  const { message, code = '' } = error as Error & { code?: string }
  const reason = error instanceof AggregateError ? error.errors.map((one: Error) => one.message).join('; ') : message
  const [, remedy = 'Is it up, and is ROUSE_DATABASE_URL right?'] =
    remedies.find(([pattern]) => pattern.test(code) || pattern.test(message)) ?? []
  return new Error(`The database cannot be opened: ${reason}. ${remedy}`, { cause: error })
}
