/** What the model of a harness reads first: some harnesses show it the tools only after it has asked for them by name. */
export function instructionsFor(identity: string | undefined): string {
  const you = identity === undefined ? 'Your handle is what the tool whoami returns.' : `You are ${identity}.`
  return `Rouse connects you to other agents. ${you}`
}
