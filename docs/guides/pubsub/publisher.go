// Publishes each line of its input.
//
//	PUBSUB_URL=http://127.0.0.1:8080 PROJECT_ID=shop API_KEY=qk_... \
//	go run publisher.go orders < lines
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"math"
	mathrand "math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

type message struct {
	Data       []byte            `json:"data"` // base64 in JSON
	Attributes map[string]string `json:"attributes"`
}

var client = &http.Client{Timeout: 10 * time.Second}

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most).
func post(path string, body, answer interface{}) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		pause := math.Min(0.2*math.Pow(2, float64(attempt)), 10) * (0.5 + mathrand.Float64()/2)
		request, err := http.NewRequest("POST", os.Getenv("PUBSUB_URL")+"/v1/"+path,
			bytes.NewReader(text))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		request.Header.Set("Content-Type", "application/json")
		if response, err := client.Do(request); err == nil {
			switch code := response.StatusCode; {
			case code < 300:
				err = json.NewDecoder(response.Body).Decode(answer)
			case code != 429 && code != 503:
				response.Body.Close()
				return fmt.Errorf("%s: %s", path, response.Status)
			default:
				err = fmt.Errorf("%s: %s", path, response.Status)
				// 0 of a date, as some proxies have it
				after, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 32)
				pause = math.Max(pause, math.Min(float64(after), 60))
			}
			response.Body.Close()
			if err == nil {
				return nil
			}
		}
		time.Sleep(time.Duration(pause * float64(time.Second)))
	}
}

func main() {
	path := fmt.Sprintf("projects/%s/topics/%s:publish", os.Getenv("PROJECT_ID"), os.Args[1])
	batch := []message{}

	publish := func() {
		var answer struct{}
		if len(batch) == 0 {
			return
		}
		if err := post(path, map[string][]message{"messages": batch}, &answer); err != nil {
			log.Fatal(err)
		}
		batch = batch[:0]
	}

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		// What is published twice, as its answer was lost, has the same id of ours.
		id := make([]byte, 16)
		if _, err := rand.Read(id); err != nil {
			log.Fatal(err)
		}
		batch = append(batch, message{[]byte(lines.Text()),
			map[string]string{"id": fmt.Sprintf("%x", id)}})
		if len(batch) == 10 {
			publish()
		}
	}
	publish()
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
