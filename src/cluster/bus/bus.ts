/**
 * Carries messages between the gateways of one store. They carry no truth: a lost message costs latency, never an event. A
 * publisher receives its own messages too, which is how it knows that the bus works.
 */
export interface Bus extends AsyncDisposable {
  /** The last failure of its connection and where to correct it, for the log. */
  readonly failure: string
  /**
   * Connects, and reconnects whenever the connection is lost. Calls `onMessage` for each message. Resolves when it is connected
   * for the first time, which may be never.
   */
  start(onMessage: (message: string) => void): Promise<void>
  /** Sends a message to every gateway, this one included. At most `messageBytesMax` bytes. Rejects when it cannot be sent. */
  publish(message: string): Promise<void>
  /** Ends the connection on which nothing is received any more, and opens another one. */
  reconnect(): void
}

/** The URL may contain a password and is not repeated; the clients do not repeat it either. */
export function busFailure(variable: 'ROUSE_BUS_URL' | 'ROUSE_DATABASE_URL', error?: Error): string {
  return `${error?.message.replace(/\.$/, '') ?? 'No answer'}. Is the server of ${variable} up, and is the URL right?`
}
