// Takes the pushes of a subscription that has an oidcToken: what the server has
// signed for this audience and account, and nothing else. SIGTERM ends it when what
// it has in hand is done.
//
//	ISSUER=https://queues.example.com AUDIENCE=orders ACCOUNT=push@example.com \
//	PORT=8081 go run endpoint.go
package main

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

var client = &http.Client{Timeout: 10 * time.Second}

func fetch(url string, answer interface{}) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// The issuer's keys, looked up again for one that is not known, once a minute at most.
type keys struct {
	sync.Mutex
	issuer string
	known  map[string]*rsa.PublicKey
	at     time.Time
}

func (k *keys) get(kid string) (*rsa.PublicKey, error) {
	k.Lock()
	defer k.Unlock()
	if k.known[kid] == nil && time.Since(k.at) > time.Minute {
		var discovery struct {
			URI string `json:"jwks_uri"`
		}
		var set struct{ Keys []struct{ Kid, N, E string } }
		if err := fetch(k.issuer+"/.well-known/openid-configuration", &discovery); err != nil {
			return nil, err
		}
		if err := fetch(discovery.URI, &set); err != nil {
			return nil, err
		}
		k.known, k.at = map[string]*rsa.PublicKey{}, time.Now()
		for _, key := range set.Keys {
			n, err := base64.RawURLEncoding.DecodeString(key.N)
			if err != nil {
				return nil, err
			}
			e, err := base64.RawURLEncoding.DecodeString(key.E)
			if err != nil {
				return nil, err
			}
			k.known[key.Kid] = &rsa.PublicKey{N: new(big.Int).SetBytes(n),
				E: int(new(big.Int).SetBytes(e).Int64())}
		}
	}
	if k.known[kid] == nil {
		return nil, errors.New("an unknown key")
	}
	return k.known[kid], nil
}

func decode(part string, value interface{}) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

func (k *keys) verify(authorization, audience, account string) error {
	parts := strings.Split(strings.TrimPrefix(authorization, "Bearer "), ".")
	if len(parts) != 3 {
		return errors.New("no token")
	}
	var header struct{ Alg, Kid string }
	var payload struct {
		Iss, Aud, Email string
		Verified        bool `json:"email_verified"`
		Iat, Exp        int64
	}
	if err := decode(parts[0], &header); err != nil {
		return err
	}
	if err := decode(parts[1], &payload); err != nil {
		return err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	if header.Alg != "RS256" {
		return errors.New("another algorithm")
	}
	key, err := k.get(header.Kid)
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature); err != nil {
		return err
	}
	now := time.Now().Unix()
	if payload.Iss != k.issuer || payload.Aud != audience || payload.Email != account ||
		!payload.Verified {
		return errors.New("for or of somebody else")
	}
	if payload.Iat-60 > now || payload.Exp+60 < now {
		return errors.New("not now")
	}
	return nil
}

type message struct {
	MessageID string `json:"messageId"`
	Data      []byte // base64 in JSON
}

// Delivery is at least once, so a message whose id is known is done; with a
// database, do the work and keep the id in one transaction.
type ledger struct {
	sync.Mutex
	file *os.File
	done map[string]bool
}

func open(name string) *ledger {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	l := &ledger{file: file, done: map[string]bool{}}
	for _, id := range strings.Fields(string(text)) {
		l.done[id] = true
	}
	return l
}

func (l *ledger) handle(m message) error {
	if !json.Valid(m.Data) { // your code
		return errors.New("it is no JSON")
	}
	l.Lock()
	defer l.Unlock()
	if l.done[m.MessageID] {
		return nil
	}
	if _, err := fmt.Fprintln(l.file, m.MessageID); err != nil {
		return err
	}
	l.done[m.MessageID] = true
	return nil
}

func main() {
	name, port := os.Getenv("DONE"), os.Getenv("PORT")
	if name == "" {
		name = "done.txt"
	}
	if port == "" {
		port = "8081"
	}
	k := &keys{issuer: os.Getenv("ISSUER")}
	l := open(name)

	server := &http.Server{Addr: "127.0.0.1:" + port, ReadHeaderTimeout: 10 * time.Second}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		if err != nil {
			http.Error(w, "", http.StatusRequestEntityTooLarge)
			return
		}
		if err := k.verify(r.Header.Get("Authorization"), os.Getenv("AUDIENCE"),
			os.Getenv("ACCOUNT")); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		var push struct{ Message message }
		err = json.Unmarshal(body, &push)
		if err == nil {
			err = l.handle(push.Message)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable) // it comes again
			return
		}
		w.WriteHeader(http.StatusNoContent) // acknowledged
	})

	stop, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	ended := make(chan error)
	go func() {
		<-stop.Done()
		ended <- server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
}
