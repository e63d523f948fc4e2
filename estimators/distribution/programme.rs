//! Maximises linear functions over all distributions on a grid that agree with observed means.
//!
//! Each observation is the mean of a function over the distribution, with a standard error. The
//! *misfit* of a distribution is its largest difference from an observation, in standard errors.
//! The least misfit is found first. Then a linear function is maximised among distributions that
//! fit nearly as well, by the primal simplex method on a full table (G. B. Dantzig, *Linear
//! Programming and Extensions*, Princeton 1963), starting from the result of the last search.

/// An observed mean of a function over the distribution.
#[derive(Clone, Debug)]
pub struct ObservedMean {
    /// The function at each point of the grid.
    pub function: Vec<f64>,
    /// The observed mean of the function.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
}

/// Absolute values below this count as zero: coefficients are of the order of 1 to 1000.
/// *Numerical*.
const ZERO_TOLERANCE: f64 = 1e-9;
/// Upper limit of the misfit before a limit is set, in standard errors. *Numerical*.
const INITIAL_MISFIT_LIMIT: f64 = 1e9;
/// The number of pivots of a search after which the first improving column enters the basis instead
/// of the best one. *Numerical*: with the best one the search may cycle (R. G. Bland, Mathematics
/// of Operations Research 2, 1977).
const LARGEST_GAIN_PIVOTS: usize = 400;
/// The largest number of pivots of a search. *Numerical*.
const MAX_PIVOTS: usize = 2_000;

/// The simplex table of the admissible distributions. The columns hold the shares of the points,
/// the misfit, two slack variables for each observation, and the slack variable of the misfit
/// limit; the last column holds the values.
#[derive(Clone, Debug)]
pub struct LinearProgramme {
    /// The number of points of the grid.
    points: usize,
    /// The number of columns.
    width: usize,
    /// The equations: the shares add up to 1, two rows for each observation, the misfit limit.
    rows: Vec<Vec<f64>>,
    /// The basis: the column whose value each row holds.
    basis: Vec<usize>,
}

impl LinearProgramme {
    /// Creates the table for distributions over `points` points. `None` without points.
    pub fn new(points: usize, observed: &[ObservedMean]) -> Option<Self> {
        let (count, misfit) = (2 * observed.len(), points);
        let width = points + count + 3;
        let mut total = vec![0.0; width];
        total[..points].fill(1.0);
        total[width - 1] = 1.0;
        let mut rows = vec![total];
        for (number, observation) in observed.iter().enumerate() {
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let mut row = vec![0.0; width];
                row.iter_mut()
                    .zip(&observation.function)
                    .for_each(|(cell, value)| *cell = sign * value / observation.error);
                row[misfit] = -1.0;
                row[misfit + 1 + 2 * number + side] = 1.0;
                row[width - 1] = sign * observation.mean / observation.error;
                rows.push(row);
            }
        }
        let mut limit = vec![0.0; width];
        (limit[misfit], limit[width - 2], limit[width - 1]) = (1.0, 1.0, INITIAL_MISFIT_LIMIT);
        rows.push(limit);
        let basis = std::iter::once(0).chain(misfit + 1..width - 1).collect();
        let mut programme = Self {
            points,
            width,
            rows,
            basis,
        };
        (points > 0).then(|| {
            programme.minimise_misfit();
            programme
        })
    }

    /// Starts from a distribution with all mass in one point, then minimises the misfit.
    fn minimise_misfit(&mut self) {
        let misfit = self.points;
        self.pivot(0, self.points / 2);
        let value = |row: &usize| self.rows[*row][self.width - 1];
        let worst = (1..self.rows.len() - 1).min_by(|a, b| value(a).total_cmp(&value(b)));
        if let Some(worst) = worst.filter(|worst| value(worst) < 0.0) {
            self.pivot(worst, misfit);
        }
        let mut least = vec![0.0; self.width - 1];
        least[misfit] = -1.0;
        self.maximise(least);
    }

    /// The misfit of the best distribution, in standard errors.
    pub fn misfit(&self) -> f64 {
        self.value(self.points)
    }

    /// Admits all distributions whose misfit is at most `misfit`, in standard errors. A value below
    /// the least misfit admits only distributions with the least misfit.
    pub fn set_misfit_limit(&mut self, misfit: f64) {
        let last = self.width - 2;
        let limit = self.basis.iter().position(|column| *column == last);
        if let Some(row) = limit {
            let value = &mut self.rows[row][last + 1];
            *value = (*value - (INITIAL_MISFIT_LIMIT - misfit)).max(0.0);
        }
    }

    /// Returns the largest mean of a function over the admitted distributions. If the observations
    /// leave almost no freedom, rounding errors dominate the pivots; therefore the result is
    /// limited to the range of the function.
    pub fn maximum_mean(&mut self, function_at: impl Fn(usize) -> f64) -> f64 {
        let mut function: Vec<f64> = (0..self.points).map(&function_at).collect();
        let range = function.iter().fold(
            [f64::INFINITY, f64::NEG_INFINITY],
            |[least, most], value| [value.min(least), value.max(most)],
        );
        function.resize(self.width - 1, 0.0);
        self.maximise(function);
        let shares = self
            .basis
            .iter()
            .zip(&self.rows)
            .filter(|(column, _)| **column < self.points);
        let most: f64 = shares
            .map(|(column, row)| function_at(*column) * row[self.width - 1])
            .sum();
        if most.is_nan() {
            range[1]
        } else {
            most.max(range[0]).min(range[1])
        }
    }

    /// The value of the variable of this column; 0 outside the basis.
    fn value(&self, column: usize) -> f64 {
        let row = self.basis.iter().position(|other| *other == column);
        row.map_or(0.0, |row| self.rows[row][self.width - 1])
    }

    /// Pivots until the objective function, whose coefficients are `reduced_gains`, no longer
    /// increases.
    fn maximise(&mut self, mut reduced_gains: Vec<f64>) {
        reduced_gains.push(0.0);
        for (row, column) in self.rows.iter().zip(&self.basis) {
            let gain = reduced_gains[*column];
            subtract(&mut reduced_gains, row, gain);
        }
        for step in 0..MAX_PIVOTS {
            let improving = reduced_gains[..self.width - 1]
                .iter()
                .enumerate()
                .filter(|(_, gain)| **gain > ZERO_TOLERANCE);
            let entering = if step < LARGEST_GAIN_PIVOTS {
                improving.max_by(|a, b| a.1.total_cmp(b.1))
            } else {
                improving.min_by_key(|(column, _)| *column)
            };
            let Some(entering) = entering.map(|(column, _)| column) else {
                break;
            };
            let Some(leaving) = self.leaving_row(entering) else {
                break;
            };
            self.pivot(leaving, entering);
            let gain = reduced_gains[entering];
            subtract(&mut reduced_gains, &self.rows[leaving], gain);
        }
    }

    /// Ratio test: returns the row whose value reaches zero first when the column `entering` enters
    /// the basis. `None` if no value decreases.
    fn leaving_row(&self, entering: usize) -> Option<usize> {
        let mut first: Option<(f64, usize)> = None;
        for (at, row) in self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row[entering] > ZERO_TOLERANCE)
        {
            let ratio = row[self.width - 1] / row[entering];
            let is_lower = first.is_none_or(|(least, other)| {
                ratio < least - ZERO_TOLERANCE
                    || (ratio < least + ZERO_TOLERANCE && self.basis[at] < self.basis[other])
            });
            if is_lower {
                first = Some((ratio, at));
            }
        }
        first.map(|(_, row)| row)
    }

    /// Solves the equation of `row` for the variable of `column`, which enters the basis.
    fn pivot(&mut self, row: usize, column: usize) {
        let mut pivot = std::mem::take(&mut self.rows[row]);
        let divisor = pivot[column];
        pivot.iter_mut().for_each(|cell| *cell /= divisor);
        for other in self.rows.iter_mut().filter(|other| !other.is_empty()) {
            let factor = other[column];
            subtract(other, &pivot, factor);
        }
        self.rows[row] = pivot;
        self.basis[row] = column;
    }
}

/// Subtracts `factor` times `row` from the row `from`.
fn subtract(from: &mut [f64], row: &[f64], factor: f64) {
    if factor != 0.0 {
        from.iter_mut()
            .zip(row)
            .for_each(|(cell, other)| *cell -= factor * other);
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// The largest mean of a function by exhaustive search over mixtures of two points in steps of
    /// 0.1 %; sufficient for a single observed mean.
    fn exhaustive_maximum(observed: &ObservedMean, misfit: f64, objective: &[f64]) -> f64 {
        let mut most = f64::NEG_INFINITY;
        for (first, second) in
            (0..objective.len()).flat_map(|first| (0..=first).map(move |second| (first, second)))
        {
            for part in 0..=1_000 {
                let share = f64::from(part) / 1e3;
                let mixed =
                    |function: &[f64]| share * function[first] + (1.0 - share) * function[second];
                if (mixed(&observed.function) - observed.mean).abs()
                    <= misfit * observed.error + 1e-9
                {
                    most = most.max(mixed(objective));
                }
            }
        }
        most
    }

    #[test]
    fn agrees_with_exhaustive_search() {
        let mut random = StdRng::seed_from_u64(7);
        for _ in 0..60 {
            let mut function = || {
                (0..7)
                    .map(|_| random.random_range(-1.0..1.0))
                    .collect::<Vec<f64>>()
            };
            let (constraint, objective) = (function(), function());
            let mean = constraint[2] * 0.4 + constraint[5] * 0.6;
            let observed = ObservedMean {
                function: constraint,
                mean,
                error: 0.05,
            };
            let mut programme = LinearProgramme::new(7, std::slice::from_ref(&observed)).unwrap();
            assert!(programme.misfit() < 1e-6);
            programme.set_misfit_limit(1.0);
            let (found, tried) = (
                programme.maximum_mean(|at| objective[at]),
                exhaustive_maximum(&observed, 1.0, &objective),
            );
            assert!(
                found > tried - 1e-6 && found < tried + 0.01,
                "{found}, not {tried}"
            );
        }
    }

    #[test]
    fn contradicting_means_share_the_misfit() {
        let level = |mean| ObservedMean {
            function: vec![0.0, 1.0, 2.0],
            mean,
            error: 0.1,
        };
        let mut programme = LinearProgramme::new(3, &[level(0.8), level(1.2)]).unwrap();
        assert!((programme.misfit() - 2.0).abs() < 1e-6);
        programme.set_misfit_limit(3.0);
        assert!((programme.maximum_mean(|at| at as f64) - 1.1).abs() < 1e-6);
        assert!((-programme.maximum_mean(|at| -(at as f64)) - 0.9).abs() < 1e-6);
        assert!(LinearProgramme::new(0, &[]).is_none());
    }

    /// Three moments of a fair coin determine its share below a point.
    #[test]
    fn moments_determine_a_coin() {
        let grid: Vec<f64> = (-10..=10).map(|at| f64::from(at) / 5.0).collect();
        let moment = |order: i32, mean| ObservedMean {
            function: grid.iter().map(|x| x.powi(order)).collect(),
            mean,
            error: 1e-3,
        };
        let all = [moment(1, 0.0), moment(2, 1.0), moment(4, 1.0)];
        let mut programme = LinearProgramme::new(grid.len(), &all).unwrap();
        programme.set_misfit_limit(1.0);
        let below = |level: f64| if level < 0.0 { 1.0 } else { 0.0 };
        let most = programme.maximum_mean(|at| below(grid[at]));
        let least = -programme.maximum_mean(|at| -below(grid[at]));
        assert!(
            (most - 0.5).abs() < 0.02 && (least - 0.5).abs() < 0.02,
            "{least} to {most}"
        );
    }
}
