// The SDK that Copilot CLI gives to an extension, by its documentation: the test is the terminal. A message that is queued says nothing more.
const handlers = new Map()

export async function joinSession() {
  process.on('message', ({ type, data }) => {
    for (const handler of handlers.get(type) ?? []) handler({ type, data })
  })
  process.on('disconnect', () => process.exit(0))
  return {
    sessionId: 'copilot-1',
    on: (type, handler) => handlers.set(type, [...(handlers.get(type) ?? []), handler]),
    send: async (options) => {
      process.send({ is: 'send', options })
      return 'message-1'
    },
  }
}
