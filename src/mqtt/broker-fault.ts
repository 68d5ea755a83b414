// Why a connection to the broker ended: a sentence for the node's log, never for a caller.

export class BrokerFault extends Error {
  override readonly name: string = 'BrokerFault'
}
