/** Carries messages of JSON-RPC, one text each. */
export interface Transport extends AsyncDisposable {
  /** A text that cannot be sent any more is lost: `closed` reports so. */
  send(text: string): void
  /** Calls back for each text that comes. One listener. */
  onText(listener: (text: string) => void): void
  /** Resolves with the reason when nothing comes any more. Never rejects. */
  readonly closed: Promise<string>
}

/** The most bytes of one message. A turn with the output of its tools is the largest that is requested. */
export const messageBytesMax = 16 * 1024 * 1024
