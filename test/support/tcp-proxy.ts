import { connect, createServer, type Socket } from 'node:net'

/** A line between a client and a server that a test cuts, or silences. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Lets what holds these bytes through to the server, and cuts the line before its answer. */
  cutAfter(bytes: string): void
  /** Cuts every line that there is; new ones are as good as before. */
  cutAll(): void
  /** From now on new lines are refused. */
  refuse(): void
  /** From now on nothing comes through, and nobody is notified: a cable that was pulled. */
  silence(): void
  /** The same for the lines that there are; new ones are as good as before. */
  silenceOpen(): void
  /** As good as ever: what was held back by the silence goes on its way. */
  accept(): void
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let cut: string | undefined
  let open = true
  let silent = false
  const server = createServer((client) => {
    if (!open) {
      client.destroy()
      return
    }
    const upstream = connect(target.port, target.host)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      if (silent) one.pause()
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (cut === undefined || !chunk.includes(cut)) {
        upstream.write(chunk)
        return
      }
      cut = undefined
      // The server has it all before the client knows that it will hear nothing of it.
      upstream.write(chunk, () => upstream.removeAllListeners('data').once('data', () => client.destroy()))
    })
    upstream.on('data', (chunk) => client.write(chunk))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    cutAfter(bytes) {
      cut = bytes
    },
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
    refuse() {
      open = false
      for (const socket of sockets) socket.destroy()
    },
    silence() {
      silent = true
      for (const socket of sockets) socket.pause()
    },
    silenceOpen() {
      for (const socket of sockets) socket.pause()
    },
    accept() {
      open = true
      silent = false
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
