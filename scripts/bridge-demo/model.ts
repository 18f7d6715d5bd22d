// The model of the harness: a script that calls our tools as a model would. It prints when it was prompted for what.

import { instant } from '../../src/cli/operator/demo/story.ts'
import { startFakeModel } from '../../test/real-harnesses/fake-model.ts'
import { nextReply } from './model-script.ts'

await using model = await startFakeModel(({ body }) => {
  const { reply, what } = nextReply(body)
  console.log(JSON.stringify({ prompted: what, at: instant() }))
  return reply
})
console.log(JSON.stringify({ url: model.url }))
await new Promise((resolve) => process.once('SIGTERM', resolve))
