-- Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
import Control.Monad (replicateM)
import Data.Time.Clock.System

main :: IO ()
main = do
  readings <- replicateM 20000 getSystemTime
  putStrLn (unwords ("getSystemTime" : "1" : [show (toInteger s * 1000000000 + toInteger ns) | MkSystemTime s ns <- readings]))
