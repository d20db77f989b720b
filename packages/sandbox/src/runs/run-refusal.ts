/** Why a run is refused: the code and message of its outcome. */
export interface RunRefusal {
  code: string;
  message: string;
}
