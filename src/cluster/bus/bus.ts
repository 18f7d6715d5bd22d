/**
 * The live plane between the gateways of one store. It carries no truth: a message that is lost costs latency, never an
 * event. Whoever publishes hears its own messages too: that is how it knows that the bus works.
 */
export interface Bus extends AsyncDisposable {
  /** Begins to connect, and connects anew whenever the connection is lost. `heard` is called for each message. */
  start(heard: (message: string) => void): void
  /** Sends to everybody, this gateway included. Rejects when it cannot be sent. At most `busLimits.message` bytes. */
  publish(message: string): Promise<void>
}
