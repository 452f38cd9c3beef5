#!/usr/bin/env bash
# The whole life of a model, in the shell: fit, predict, monitor, drift, revoked, recalibrate,
# predict again.
#
# A model predicts the wear of a tool from speed and load. Then the steel changes, and errors grow.
# The files are in a new folder. The script ends with an error if a step does not end as it should.
set -euo pipefail
cd "$(mktemp -d)"

# Speed, load and wear of so many tools, from a seed; hard steel makes the wear less regular.
measure() { # rows seed hardness
    awk -v n="$1" -v seed="$2" -v hardness="$3" 'BEGIN {
        srand(seed); print "speed,load,wear"
        for (i = 0; i < n; i++) {
            speed = 1 + 4 * rand(); load = 2 * rand(); noise = -6
            for (k = 0; k < 12; k++) noise += rand()
            wear = 2 * speed + load + hardness * (0.1 + 0.2 * load) * noise
            printf "%.6f,%.6f,%.6f\n", speed, load, wear
        }
    }'
}
measure 800 1 1 > data.csv
measure 300 2 1 > today.csv
measure 600 3 3 > hard.csv
measure 500 4 3 > fresh.csv

echo "== fit: train, certify and save a model, and its certificate alone"
pacband fit data.csv --target wear --eps 0.1 --delta 0.01 --time-budget 1 --jobs 1 \
    -o model.pacband --certificate cert.json > fitted.txt
head -1 fitted.txt

echo "== predict: the band of every row, and its scale"
pacband predict model.pacband today.csv --scale-column scale -o bands.csv
head -2 bands.csv

echo "== monitor: raw rows, the model predicts them"
pacband monitor model.pacband --state state.json --target wear today.csv

echo "== drift: the monitor revokes the certificate and ends with exit code 1"
status=0
pacband monitor model.pacband --state state.json --target wear hard.csv || status=$?
test "$status" -eq 1

echo "== recalibrate: with rows that were measured after the alarm"
pacband recalibrate model.pacband fresh.csv --target wear \
    -o model2.pacband --certificate cert2.json > renewed.txt
grep "of a chain" renewed.txt

echo "== predict again: the bands are wider"
pacband predict model2.pacband today.csv -o bands2.csv
head -2 bands2.csv
