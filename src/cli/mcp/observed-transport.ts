import type { Transport } from '@modelcontextprotocol/server'

/** A transport whose messages from the client are seen by `observe` before the server gets them. `onClosed`: it is closed. */
export function observedTransport(
  inner: Transport,
  { observe, onClosed }: { readonly observe: (message: unknown) => void; readonly onClosed: () => void },
): Transport {
  const outer: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        observe(message)
        outer.onmessage?.(message, extra)
      }
      inner.onerror = (error) => outer.onerror?.(error)
      inner.onclose = () => {
        outer.onclose?.()
        onClosed()
      }
      await inner.start()
    },
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  }
  return outer
}
