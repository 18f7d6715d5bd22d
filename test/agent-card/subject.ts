import type { CardAgent } from '../../src/agent-card/documents.ts'

export const publicUrl = 'https://rouse.example'

/** A registered agent with everything filled in, or as the test says. */
export function donna(changes: Partial<CardAgent> = {}): CardAgent {
  return {
    id: 'agent_1',
    handle: '@donna',
    displayName: 'Donna',
    description: 'Keeps the calendar.',
    skills: [{ id: 'schedule', name: 'Scheduling', description: 'Finds a slot.', tags: ['calendar', 'Time'] }],
    inputModes: ['text/plain', 'application/json'],
    outputModes: ['text/plain'],
    version: '1',
    projectId: 'project_1',
    project: 'default',
    aliases: ['@d'],
    access: { allow: ['@mike'] },
    updatedAt: Date.UTC(2026, 3, 26, 10),
    ...changes,
  }
}
