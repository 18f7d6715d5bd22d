import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest files: one that mostly waits, then one that mostly computes, so that both cores are in use. A new one belongs here too. */
const longest = [
  'harnesses/opencode/port',
  'rest/hostile-values',
  'harnesses/generic/tmux/tmux-adapter',
  'contract/contract',
  'readme/follow',
  'harnesses/generic/acp/acp',
  'access/a2a-walk',
  'harnesses/opencode/plugin',
  'process/nothing-missed',
  'fronts/unread-streams',
  'tasks/limits',
  'bridge/run/waiting',
  'process/crash-under-load',
  'harnesses/qwen/qwen-adapter',
  'process/crash-before-delivery',
  'process/crash-during-digest',
  'gateways/live',
  'fronts/outage',
  'wake-stream/steps',
  'fronts/http-server',
  'access/walk',
  'rest/catalog',
  'fronts/many-connections',
  'process/stopping',
  'identity/open-calls',
  'process/mcp-stdio',
  'redaction/redaction',
  'bridge/run/trouble',
  'a2a/message-limits',
  'harnesses/claude/monitor',
  'wakes/retries',
  'bridge/run/bridge',
  'process/crash-between-tries',
  'identity/tokens',
  'fronts/mcp/http/slow-reader',
  'a2a/lifecycle',
  'fronts/mcp/http/session-life',
  'fronts/mcp/clients-matrix',
  'webhooks/outbound',
  'process/starting',
  'process/listening',
  'public/package',
  'grpc/lifecycle',
  'mailbox/inbox',
  'tasks/expiry',
  'cli/listen-recipes',
  'access/mcp-walk',
]

/**
 * The order of the files: a project after the other, for a worker ends where the project of its files does; in each the longest
 * first, so that no worker ends with one of them while the others have nothing to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(files.map(({ project }) => project.name))].sort().reverse()
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return projects.indexOf(project.name) * (longest.length + 1) + (place < 0 ? longest.length : place)
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}
