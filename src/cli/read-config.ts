import { UsageError } from './failure.ts'
import type { Io } from './io.ts'
import { withSecretFiles } from './secret-files.ts'

/** The configuration of this environment; what is wrong with it is wrong with the command line. */
export function readConfig<Config>(parse: (env: Io['env']) => Config, env: Io['env']): Config {
  try {
    return parse(withSecretFiles(env))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
