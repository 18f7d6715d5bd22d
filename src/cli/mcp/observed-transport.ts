import type { RequestId, Transport } from '@modelcontextprotocol/server'

/** A transport that is watched. */
export function observedTransport(
  inner: Transport,
  { observe, observeSent, onWritten, onClosed }: Observer,
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
    async send(message, options) {
      const wait = observeSent(message)
      if (wait) await wait
      await inner.send(message, options)
      if (!('method' in message) && message.id !== undefined) onWritten(message.id)
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  }
  return outer
}

/** Sees what goes over a transport. */
interface Observer {
  /** Sees each message of the client before the server gets it. */
  readonly observe: (message: unknown) => void
  /** Sees each message of the server before the client gets it, and may hold it back. */
  readonly observeSent: (message: unknown) => Promise<void> | undefined
  /** The answer to a request was written to the client. A connection that is closed at its other end refuses it. */
  readonly onWritten: (id: RequestId) => void
  readonly onClosed: () => void
}
