import type { Fetch } from '../../../src/client/client-fetch.ts'

/** Each stream of wakes has these too, from the moment `when` on (default: first). */
export const duringWakes =
  (forged: readonly object[], when: Promise<void> = Promise.resolve()): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init as RequestInit)
    if (!url.includes('/v1/wake-stream?')) return response as never
    const lies = forged.map((wake) => `event: wake\ndata: ${JSON.stringify(wake)}\n\n`).join('')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        const lying = when.then(() => controller.enqueue(new TextEncoder().encode(lies)))
        if (response.ok) void lying.catch(() => {})
        try {
          for (let part = await reader.read(); !part.done; part = await reader.read()) controller.enqueue(part.value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
    return new Response(body as never, response) as never
  }
