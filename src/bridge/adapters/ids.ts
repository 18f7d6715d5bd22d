export { type BridgeHarness as AdapterId, bridgeHarnesses as adapterIds } from '../../words/bridge-harnesses.ts'
