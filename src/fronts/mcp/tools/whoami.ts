import { z } from 'zod'
import { reads, tool } from './tool.ts'

/** Whose key it is. */
export const whoami = tool({
  name: 'whoami',
  title: 'Who am I',
  description:
    'Returns your own identity on the gateway: your handle, your project, and what your key may be used for. Use it first when you do not know your handle.',
  input: z.strictObject({}),
  output: z.looseObject({
    kind: z.enum(['agent', 'operator']),
    identity: z.string().describe('Your address, e.g. @donna'),
    project: z.string(),
    keyId: z.string(),
    scopes: z.array(z.string()),
    role: z.string().optional(),
    projects: z.array(z.string()).optional(),
    expiresAt: z.string().optional(),
  }),
  annotations: reads,
  say: ({ identity, project }) => `You are ${identity} in the project ${project}.`,
  run: ({ rest }) => rest('GET /v1/whoami'),
})
