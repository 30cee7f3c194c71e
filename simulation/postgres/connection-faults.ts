/** The faults of the connections of one server to the database. */

/** The probabilities of the faults of connections. */
export interface ConnectionFaults {
  /** The connection breaks before a statement reaches the database. */
  lostStatements: number;
  /** It breaks after the statement has executed. */
  lostAnswers: number;
}

export const NO_CONNECTION_FAULTS: ConnectionFaults = { lostStatements: 0, lostAnswers: 0 };
