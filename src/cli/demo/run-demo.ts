export interface DemoOptions {
  /** Prints one line. */
  print: (text: string) => void
  /** Where the demo's gateway listens; 0 or absent = any free port. */
  port?: number
  /** End when the story is told instead of staying up until Ctrl-C. */
  exit?: boolean
  signal?: AbortSignal
}

export async function runDemo(_options: DemoOptions): Promise<void> {
  throw new Error('not built yet')
}
