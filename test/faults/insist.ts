/** The errors until success, by kind. */
export type Trouble = Map<string, number>

const insistMaxMs = 120_000

/** Repeats an act until the gateway has answered it: a connection that breaks, or an outage, says nothing about whether it was done. So does a refusal for too many requests at once. */
export async function insist<T>(trouble: Trouble, act: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + insistMaxMs
  for (;;) {
    try {
      return await act()
    } catch (error) {
      const kind = kindOf(error)
      trouble.set(kind, (trouble.get(kind) ?? 0) + 1)
      if (/: 4(?!09|29)\d\d /.test(kind) || Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
}

export function tell(trouble: Trouble): string {
  const kinds = [...trouble].map(([kind, count]) => `${count} × ${kind}`)
  return `clients got errors, and tried again: ${kinds.join(', ') || 'nothing'}`
}

function kindOf(error: unknown): string {
  const { name, message, cause } = error as Error
  const code = (cause as { code?: string } | undefined)?.code
  return code ?? (name === 'Error' ? message.slice(0, 100) : `${name}: ${message.slice(0, 60)}`)
}
