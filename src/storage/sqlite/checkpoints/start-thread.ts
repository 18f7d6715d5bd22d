import { Worker } from 'node:worker_threads'

/** The input of the thread: the store's path, and a descriptor of the same file. */
export interface ThreadData {
  readonly path: string
  readonly fd: number
}

/** The sources need a loader, the build does not. Flags of the process, such as modules to load first, are not for this thread. */
const [script, execArgv] = import.meta.url.endsWith('.ts') ? ['./thread.ts', withLoader()] : ['./thread.js', []]
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 }

/** Starts a thread of thread.ts. Throws when the system has none to give. */
export function startThread(workerData: ThreadData): Worker {
  return new Worker(new URL(script, import.meta.url), { workerData, execArgv, resourceLimits })
}

/** `--import tsx` alone does nothing in a thread on Node 20. */
function withLoader(): string[] {
  const script = `import { register } from '${import.meta.resolve('tsx/esm/api')}'; register()`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}
