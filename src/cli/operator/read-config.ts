import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { withSecretFiles } from '../../client/secret-files.ts'

/** The configuration of this environment. Errors in it are usage errors. */
export function readConfig<Config>(parse: (env: Io['env']) => Config, env: Io['env']): Config {
  try {
    return parse(withSecretFiles(env))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
